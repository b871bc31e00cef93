import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Inputs that failed once, in a folder for each target: every test run tries them again. */
const corpus = join('test', 'corpus');

/** The file that an input is kept in from now on. */
export function keep(target: string, input: Uint8Array): string {
  const folder = join(corpus, target);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, createHash('sha256').update(input).digest('hex').slice(0, 16));
  writeFileSync(path, input);
  return path;
}

/** The inputs that are kept for a target, by the names of their files. */
export function kept(target: string): readonly (readonly [name: string, input: Buffer])[] {
  const folder = join(corpus, target);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => [name, readFileSync(join(folder, name))] as const);
}

/** The targets that have inputs. */
export const keptTargets = (): string[] => (existsSync(corpus) ? readdirSync(corpus).sort() : []);
