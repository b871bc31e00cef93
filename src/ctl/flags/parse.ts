/** Reads the flags of a command line as the clients of the reference server do: before, between and after arguments. */
import { type Flag, type FlagTable, nameOfKey } from './flag.ts';

/** An error in a command line. Its message has no prefix. */
export class FlagError extends Error {}

export interface ParsedLine {
  /** By key; flags that are absent have their default. */
  readonly values: { readonly [key: string]: unknown };
  /** The keys of the flags on the command line. */
  readonly set: ReadonlySet<string>;
  readonly args: readonly string[];
  /** The number of arguments before `--`; undefined without it. */
  readonly argsBeforeDash: number | undefined;
}

export interface ParseOptions {
  /** Stops at the first argument, whose flags belong to another program. */
  readonly stopAtArgument?: boolean;
}

/** @throws FlagError */
export function parseLine(table: FlagTable, line: readonly string[], options: ParseOptions = {}): ParsedLine {
  const reader = new LineReader(table, line);
  reader.read(options);
  return reader;
}

class LineReader implements ParsedLine {
  readonly values: { [key: string]: unknown };
  readonly set = new Set<string>();
  readonly args: string[] = [];
  argsBeforeDash: number | undefined;
  readonly #byName = new Map<string, string>();
  readonly #byLetter = new Map<string, string>();
  readonly #table: FlagTable;
  readonly #line: readonly string[];
  #next = 0;

  constructor(table: FlagTable, line: readonly string[]) {
    this.#table = table;
    this.#line = line;
    this.values = Object.fromEntries(Object.entries(table).map(([key, flag]) => [key, flag.default]));
    for (const [key, { short }] of Object.entries(table)) {
      this.#byName.set(nameOfKey(key), key);
      if (short !== undefined) this.#byLetter.set(short, key);
    }
  }

  read({ stopAtArgument = false }: ParseOptions): void {
    while (this.#next < this.#line.length) {
      const word = this.#line[this.#next++] ?? '';
      if (word === '--') {
        this.argsBeforeDash = this.args.length;
        this.#takeRest();
      } else if (word.startsWith('--')) this.#readLong(word);
      else if (word.startsWith('-') && word !== '-') this.#readShort(word);
      else {
        this.args.push(word);
        if (stopAtArgument) this.#takeRest();
      }
    }
  }

  #takeRest(): void {
    for (const word of this.#line.slice(this.#next)) this.args.push(word);
    this.#next = this.#line.length;
  }

  #readLong(word: string): void {
    const [, name = '', value] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(word) ?? [];
    if (name === '' || name.startsWith('-')) throw new FlagError(`bad flag syntax: ${word}`);
    const key = this.#byName.get(name);
    if (key === undefined) throw new FlagError(`unknown flag: --${name}`);
    const given = value ?? this.#table[key]?.bare ?? this.#line[this.#next++];
    if (given === undefined) throw new FlagError(`flag needs an argument: --${name}`);
    this.#set(key, given);
  }

  /** Several letters may share a dash; the last one may have a value, with or without `=`. */
  #readShort(word: string): void {
    let rest = word.slice(1);
    while (rest !== '') {
      const letter = rest.charAt(0);
      const key = this.#byLetter.get(letter);
      if (key === undefined) throw new FlagError(`unknown shorthand flag: ${quoteLetter(letter)} in -${rest}`);
      const flag = this.#table[key] as Flag<unknown>;
      if (flag.bare !== undefined && !(rest.length > 2 && rest.charAt(1) === '=')) {
        this.#set(key, flag.bare);
        rest = rest.slice(1);
        continue;
      }
      const value = rest.length > 1 ? rest.slice(1).replace(/^=(?=.)/, '') : this.#line[this.#next++];
      if (value === undefined) throw new FlagError(`flag needs an argument: ${quoteLetter(letter)} in -${rest}`);
      this.#set(key, value);
      rest = '';
    }
  }

  #set(key: string, text: string): void {
    const flag = this.#table[key];
    try {
      this.values[key] = flag?.type.parse(text, this.values[key], !this.set.has(key));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const shown = `${flag?.short === undefined ? '' : `-${flag.short}, `}--${nameOfKey(key)}`;
      throw new FlagError(`invalid argument ${JSON.stringify(text)} for "${shown}" flag: ${why}`);
    }
    this.set.add(key);
  }
}

const quoteLetter = (letter: string) => `'${letter}'`;
