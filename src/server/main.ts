#!/usr/bin/env node
import module from 'node:module';

// The compile cache of Node, where available, must be enabled before other modules are loaded.
if ('enableCompileCache' in module && typeof module.enableCompileCache === 'function') module.enableCompileCache();
const { runCommand } = await import('./commands/run-command.ts');
await runCommand(process.argv.slice(2));
