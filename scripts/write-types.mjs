// Writes the types of the built-in kinds into the package: the entry `orch/types`, which has no code.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const dist = join(dirname(import.meta.dirname), 'dist');
/** @type {typeof import('../src/generate/index.ts')} */
const { builtInTypes } = await import(new URL('../dist/server/generate.js', import.meta.url).href);
const types = builtInTypes();
mkdirSync(join(dist, 'types'), { recursive: true });
// The same declarations for ESM and CommonJS consumers.
for (const name of ['index.d.ts', 'index.d.cts']) writeFileSync(join(dist, 'types', name), types);
