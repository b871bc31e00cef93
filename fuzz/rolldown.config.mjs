// Bundles the fuzzer with the sources of the server.
import { readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';

const { dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

export default defineConfig({
  input: { main: 'fuzz/main.ts', 'decoders-child': 'fuzz/decoders-child.ts' },
  platform: 'node',
  external: Object.keys({ ...dependencies, ...optionalDependencies }),
  output: { dir: 'dist/fuzz', format: 'esm', sourcemap: true },
});
