#!/usr/bin/env node
import module from 'node:module';

// Compiled code is kept between starts where Node can do that: it must be on before the rest is loaded.
if ('enableCompileCache' in module && typeof module.enableCompileCache === 'function') module.enableCompileCache();
const { runCommand } = await import('./command.ts');
await runCommand(process.argv.slice(2));
