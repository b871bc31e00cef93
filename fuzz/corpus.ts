import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The corpus: inputs that failed once, in a folder per target; every test run replays them. */
const corpus = join('test', 'corpus');

/** Saves an input; returns its file. */
export function keep(target: string, input: Uint8Array): string {
  const folder = join(corpus, target);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, createHash('sha256').update(input).digest('hex').slice(0, 16));
  writeFileSync(path, input);
  return path;
}

/** The saved inputs of a target, by file name. */
export function kept(target: string): readonly (readonly [name: string, input: Buffer])[] {
  const folder = join(corpus, target);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => [name, readFileSync(join(folder, name))] as const);
}

/** The targets with saved inputs. */
export const keptTargets = (): string[] => (existsSync(corpus) ? readdirSync(corpus).sort() : []);
