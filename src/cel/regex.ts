/** Regular expressions in RE2 syntax, matched in linear time. */
import { createRequire } from 'node:module';
import type * as Re2 from 're2js';
import { atOnce, type Steps } from '../meta/index.ts';
import { type Automaton, automatonOf, matchInSteps } from './regex-automaton.ts';
import { endOfUnit, sizeOfProgram } from './regex-size.ts';
import { CelError } from './values.ts';

/** The longest pattern, in UTF-16 code units. */
const MAX_PATTERN = 10_000;
/** The largest program that a pattern is compiled to, in instructions: `(?:ab){100}` has about 200. */
const MAX_PROGRAM = 10_000;
/** Maximum size of all cached programs (instructions). An expression also caches some states of its automaton. */
export const maxKeptPatterns = 50_000;
/** Maximum memory of all cached automaton states (bytes); one expression has at most 8 MB. */
const MAX_STATES = 16_000_000;
/** The memory of states is checked after this number of uses. */
const USES = 16;
/** Memory of an expression apart from its instructions, counted as instructions. */
const OVERHEAD = 100;

/** The most matches times the length of the text. */
const MAX_SCANNED = 100_000_000;
/** So many instructions times characters are matched by the library itself: a millisecond at most. */
const SHORT = 40_000;
/** So many may be matched by the library where its states do not help: some ten milliseconds at most. */
const MAX_SIMULATED = 500_000;

/** The library takes 30 ms to load, so it is loaded with the first pattern. */
let library: typeof Re2 | undefined;
function re2(): typeof Re2 {
  library ??= createRequire(import.meta.url)('re2js') as typeof Re2;
  return library;
}

export interface Regex {
  /** The number of instructions: the time of a match is at most proportional to it and to the length of the text. */
  readonly programSize: number;
  /** The memory of the states that matching has computed, in bytes. */
  readonly stateBytes: () => number;
  /** Whether a text takes less than about a millisecond to match. Others are matched in steps. */
  readonly isShort: (text: string) => boolean;
  /** Whether a part of the text matches. In steps for long texts. @throws CelError for a text that takes too long */
  readonly test: (text: string) => boolean;
  readonly testInSteps: (text: string) => Steps<boolean>;
  /** Returns the matching parts from left to right, without overlap, at most `most`. @throws CelError for too many */
  readonly findAll: (text: string, most: number) => Steps<string[]>;
}

/** In the order of their last use. */
const cache = new Map<string, Regex>();
let cachedInstructions = 0;
let uses = 0;

/**
 * Compiles a pattern, or returns it from the cache of recently used patterns.
 * @throws CelError for a pattern that is invalid, too long, or too large when its repetitions are written out
 */
export function compileRegex(pattern: string): Regex {
  if (++uses % USES === 0) forgetStates();
  const found = cache.get(pattern);
  if (found !== undefined) {
    cache.delete(pattern);
    cache.set(pattern, found);
    return found;
  }
  const regex = compile(pattern);
  cache.set(pattern, regex);
  cachedInstructions += regex.programSize + OVERHEAD;
  for (const [oldest, old] of cache) {
    if (cachedInstructions <= maxKeptPatterns) break;
    forget(oldest, old);
  }
  return regex;
}

function forget(pattern: string, { programSize }: Regex): void {
  cache.delete(pattern);
  cachedInstructions -= programSize + OVERHEAD;
}

function forgetStates(): void {
  let bytes = keptRegexes().stateBytes;
  for (const [oldest, regex] of cache) {
    if (bytes <= MAX_STATES) break;
    bytes -= regex.stateBytes();
    forget(oldest, regex);
  }
}

/** Returns the number of cached patterns, their instructions and the memory of their states. */
export function keptRegexes(): {
  readonly patterns: number;
  readonly instructions: number;
  readonly stateBytes: number;
} {
  let stateBytes = 0;
  for (const regex of cache.values()) stateBytes += regex.stateBytes();
  return { patterns: cache.size, instructions: cachedInstructions, stateBytes };
}

/** Whether the cache has the compiled pattern. */
export const isCompiled = (pattern: string): boolean => cache.has(pattern);

const literal = /^(\^?)([^\\^$.|?*+()[\]{}\ud800-\udfff]*)(\$?)$/;

function compile(pattern: string): Regex {
  const invalid = (reason: string) => new CelError(`error parsing regexp: ${reason}`);
  if (pattern.length > MAX_PATTERN) throw invalid(`pattern is longer than ${MAX_PATTERN} characters`);
  if (sizeOfProgram(pattern) > MAX_PROGRAM) throw invalid('expression too large');
  const compiled = parse(pattern);
  const programSize = compiled.programSize();
  if (programSize > MAX_PROGRAM) throw invalid('expression too large');
  const literal = literalTest(pattern);
  let automaton: Automaton | undefined;
  const long = function* (text: string): Steps<boolean> {
    automaton ??= automatonOf(compiled);
    const matched = yield* matchInSteps(automaton, text);
    if (matched !== undefined) return matched;
    if (text.length * programSize > MAX_SIMULATED) throw tooComplex();
    return compiled.test(text);
  };
  const isShort = (text: string) => literal !== undefined || text.length * programSize <= SHORT;
  return {
    programSize,
    isShort,
    stateBytes: () => automaton?.stateBytes() ?? 0,
    test: literal ?? ((text) => (isShort(text) ? compiled.test(text) : atOnce(long(text)))),
    testInSteps: function* (text) {
      if (literal !== undefined) return literal(text);
      return isShort(text) ? compiled.test(text) : yield* long(text);
    },
    findAll: (text, most) => findAll(compiled, text, most),
  };
}

/** @throws CelError for an invalid pattern, in the words of Go's `regexp` */
function parse(pattern: string): Re2.RE2JS {
  try {
    return re2().RE2JS.compile(pattern);
  } catch (thrown) {
    if (!(thrown instanceof re2().RE2JSException)) throw thrown;
    // Group names have no effect here, and Go allows duplicates.
    if (thrown.message.includes('duplicate capture group name')) return parse(withoutNames(pattern));
    // The library omits an empty detail.
    throw new CelError(thrown.message.endsWith('end of expression') ? `${thrown.message}: \`\`` : thrown.message);
  }
}

const tooComplex = () => new CelError('the text is too long for a pattern of this complexity');

/** The test of a pattern that is a text, at the start or the end or anywhere; undefined for others. */
function literalTest(pattern: string): ((text: string) => boolean) | undefined {
  const [, start, part = '', end] = literal.exec(pattern) ?? [undefined];
  if (start === undefined) return undefined;
  if (start === '') return end === '' ? (text) => text.includes(part) : (text) => text.endsWith(part);
  return end === '' ? (text) => text.startsWith(part) : (text) => text === part;
}

/**
 * Each match may scan the rest of the text: `a.*b|a` does so in a text of many a's.
 * @throws CelError when that many steps are possible
 */
function* findAll(compiled: Re2.RE2JS, text: string, most: number): Steps<string[]> {
  if (text.length * compiled.programSize() > MAX_SIMULATED) throw tooComplex();
  const matcher = compiled.matcher(text);
  const found: string[] = [];
  // An empty match right after another match does not count.
  let last = -1;
  for (let scanned = 0; found.length < most && matcher.find(); scanned += text.length) {
    if (scanned >= SHORT) {
      scanned = 0;
      yield;
    }
    const start = matcher.start();
    const end = matcher.end();
    if (start === end && start === last) continue;
    found.push(text.slice(start, end));
    last = end;
    if (found.length * text.length > MAX_SCANNED) throw new CelError('too many matches in a long text');
  }
  return found;
}

/** Returns the approximate size of a compiled pattern (instructions), which counts against {@link maxKeptPatterns}. */
export const sizeOfPattern = (pattern: string): number => sizeOfProgram(pattern) + OVERHEAD;

/** Returns the pattern with unnamed groups. */
function withoutNames(pattern: string): string {
  const groupStart = /\(\?P?<[^>]*>/y;
  let rest = '';
  for (let i = 0, end = 0; i < pattern.length; i = end) {
    groupStart.lastIndex = i;
    const isNamed = groupStart.test(pattern);
    end = isNamed ? groupStart.lastIndex : endOfUnit(pattern, i);
    rest += isNamed ? '(' : pattern.slice(i, end);
  }
  return rest;
}
