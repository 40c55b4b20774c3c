// Loaded into the control plane before its own code (NODE_OPTIONS=--import): whoever connects to the Unix socket
// PLIMSOLL_SOAK_SOCKET has all garbage collected and is told the bytes that are left on the heap,
// and how many of them are code that V8 has made.

import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { getHeapCodeStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const path = process.env['PLIMSOLL_SOAK_SOCKET'] ?? '';
// V8 makes machine code of a function after this many bytes of bytecode; 67,584 if nothing is said. See test/soak/README.md
setFlagsFromString('--interrupt-budget=4000');
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

rmSync(path, { force: true });
createServer((socket) => {
  socket.on('error', () => undefined);
  collect();
  // not process.memoryUsage: it opens a file, and fails where no more may be open
  const { used_heap_size: heap } = getHeapStatistics();
  const { code_and_metadata_size: machine, bytecode_and_metadata_size: bytecode } = getHeapCodeStatistics();
  socket.end(JSON.stringify({ heap, code: machine + bytecode }));
})
  // a process that may open no more files cannot take the connection
  .on('error', () => undefined)
  .listen(path)
  .unref();
