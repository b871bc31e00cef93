// npm start [-- FLAGS]: installs what is missing, builds what has changed, serves.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, root } from './setup.mjs';

build();
// In this process, so that signals reach the server itself.
process.argv = [process.argv[0] ?? 'node', join(root, 'dist/server/main.js'), 'serve', ...process.argv.slice(2)];
await import(pathToFileURL(join(root, 'dist/server/main.js')).href);
