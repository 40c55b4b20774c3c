// Loaded into the control plane before its own code (NODE_OPTIONS=--import): whoever connects to the Unix socket
// PLIMSOLL_SOAK_SOCKET has all garbage collected and is told the bytes that are left on the heap.

import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const path = process.env['PLIMSOLL_SOAK_SOCKET'] ?? '';
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

rmSync(path, { force: true });
createServer((socket) => {
  socket.on('error', () => undefined);
  collect();
  // not process.memoryUsage: it opens a file, and fails where no more may be open
  socket.end(String(getHeapStatistics().used_heap_size));
})
  // a process that may open no more files cannot take the connection
  .on('error', () => undefined)
  .listen(path)
  .unref();
