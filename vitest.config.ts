import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';
import { defineConfig } from 'vitest/config';

const worker = join(import.meta.dirname, 'dist/test/yaml-worker.js');

export default defineConfig({
  plugins: [
    {
      // Node loads what a worker runs by itself, and not every Node knows TypeScript: tests run a bundle of the source.
      name: 'bundled-worker',
      async transform(code: string, id: string) {
        if (!id.endsWith('/src/http/yaml-thread.ts')) return undefined;
        await build({
          input: 'src/http/yaml-worker.ts',
          platform: 'node',
          external: ['yaml'],
          output: { file: worker },
        });
        return code.replace('./yaml-worker.js', pathToFileURL(worker).href);
      },
    },
  ],
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
