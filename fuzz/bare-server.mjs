// A server that does nothing but answer, in a process of its own. Its argument is the folder with its certificate; it
// sends its port to its parent.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';

const folder = process.argv[2] ?? '';
const server = createServer(
  { cert: readFileSync(join(folder, 'server.crt')), key: readFileSync(join(folder, 'server.key')) },
  (_request, response) => response.end('ok'),
);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.send?.(address.port);
});
process.on('disconnect', () => process.exit(0));
