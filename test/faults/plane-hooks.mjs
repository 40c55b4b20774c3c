// Loaded into the control plane before its own code (NODE_OPTIONS=--import): does inside the process what cannot be done
// to it from outside. Listens on the Unix socket PLIMSOLL_FAULT_SOCKET for lines `COMMAND ARGUMENT`; answers `ok`.

import { rmSync } from 'node:fs';
import { createServer } from 'node:net';

const path = process.env['PLIMSOLL_FAULT_SOCKET'] ?? '';
const trueNow = Date.now;

const commands = {
  /** Blocks the event loop for so many milliseconds. */
  block(milliseconds) {
    const end = performance.now() + milliseconds;
    while (performance.now() < end);
  },
  /** Shifts the wall clock by so many milliseconds. */
  clock(milliseconds) {
    Date.now = () => trueNow() + milliseconds;
  },
};

rmSync(path, { force: true });
createServer((socket) => {
  socket.setEncoding('utf8').on('error', () => undefined);
  socket.on('data', (line) => {
    const [command, argument] = line.trim().split(' ');
    commands[command]?.(Number(argument));
    socket.end('ok\n');
  });
})
  // out of files it takes no connection, and that must not end the process
  .on('error', () => undefined)
  .listen(path)
  .unref();
