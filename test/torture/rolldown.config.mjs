// Bundles the trials with the sources of the server.
import { readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';

const { dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

export default defineConfig({
  input: 'test/torture/main.ts',
  platform: 'node',
  external: [...Object.keys({ ...dependencies, ...optionalDependencies }), /scripts\/etcd\.mjs$/],
  output: { dir: 'dist/torture', format: 'esm', sourcemap: true, chunkFileNames: '[name].js' },
});
