#!/usr/bin/env node
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// The compile cache of Node, where available, must be enabled before other modules are loaded. It lies next to the code: in
// the default folder, which all users of the machine share, somebody else could have placed it.
const folder = fileURLToPath(new URL('code', import.meta.url));
if ('enableCompileCache' in module && typeof module.enableCompileCache === 'function')
  module.enableCompileCache(folder);
const { runCommand } = await import('./commands/run-command.ts');
await runCommand(process.argv.slice(2));
