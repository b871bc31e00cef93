// npm start [-- FLAGS]: installs and builds when necessary, then serves.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, root } from './setup.mjs';

build();
// In the same process, so that the server receives the signals.
process.argv = [process.argv[0] ?? 'node', join(root, 'dist/server/main.js'), 'serve', ...process.argv.slice(2)];
await import(pathToFileURL(join(root, 'dist/server/main.js')).href);
