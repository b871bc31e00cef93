import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';
import { defineConfig } from 'vitest/config';

const worker = join(import.meta.dirname, 'dist/test/yaml-worker.js');

/** Test files that change, or measure, their whole process: each gets a process of its own. The others share theirs. */
const processWide =
  /\bvi\.(?:mock|doMock|spyOn|stub\w+|useFakeTimers)\(|\bprocess\.(?:chdir|umask|memoryUsage|cpuUsage)\(|\b(?:LoopWatcher|WorkCounter)\b|setFlagsFromString|monitorEventLoopDelay/;
const files = ['src', 'test'].flatMap((folder) =>
  readdirSync(join(import.meta.dirname, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`),
);
const isolated = files.filter((file) => processWide.test(readFileSync(join(import.meta.dirname, file), 'utf8')));
const shared = files.filter((file) => !isolated.includes(file));

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
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: 'forks',
    // One more than cores: several files wait for kubectl, or for timeouts of scenarios.
    maxWorkers: 3,
    projects: [
      { extends: true, test: { name: 'shared', include: shared, isolate: false } },
      { extends: true, test: { name: 'isolated', include: isolated, sequence: { groupOrder: 1 } } },
    ],
  },
});
