// node start-elsewhere.mjs SOCKET FLAG…: the command of a server that the process at SOCKET runs. A server of its own
// process would take a second to load.
import { connect } from 'node:net';

const [path = '', ...flags] = process.argv.slice(2);
const socket = connect(path);
socket.write(`${JSON.stringify(flags)}\n`);
socket.pipe(process.stderr);
let stopped = false;
process.once('SIGTERM', () => {
  stopped = true;
  socket.end();
});
socket.once('close', () => process.exit(stopped ? 0 : 1));
