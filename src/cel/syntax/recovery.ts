/**
 * The default error strategy of ANTLR for a token that does not match: delete one token, or insert the missing one, else
 * resume at a token that may follow an open rule. Until a token matches again, nothing is reported.
 */
import type { Issue } from '../ast.ts';
import type { Tokens } from './lexer.ts';
import { maxDepth } from './nodes.ts';
import { Token, tokenNames } from './tokens.ts';

const maxRecoveries = 30;
/** Tokens that one recovery may skip. */
const maxSkipped = 256;

/** Sets of tokens are bits. Operators of one precedence share a bit: they are in a set together. */
const bits = tokenNames.map((_name, kind) => {
  if (kind === 0) return 0;
  if (kind >= Token.equals && kind <= Token.greater) return 1 << 1;
  if (kind >= Token.times && kind <= Token.remainder) return 1 << 2;
  return 1 << (kind <= Token.plus ? kind - Token.and + 3 : kind - Token.true + Token.plus - Token.and + 4);
});
export const setOf = (...kinds: readonly number[]): number => kinds.reduce((set, kind) => set | bits[kind]!, 0);

/** In a set of what follows: the rule may end here, so that what follows the rule does too. */
export const ruleEnd = 1;

/** A rule that does not match: a token is not in a set or, without a set, no alternative is viable. */
class RuleMismatchError extends Error {
  readonly expected: number;
  readonly start: number;
  readonly token: number;
  constructor(expected: number, start: number, token: number) {
    super();
    this.expected = expected;
    this.start = start;
    this.token = token;
  }
}

/** Ends the search for further syntax errors. */
export class RecoveryEndedError extends Error {}

/** The tokens with the issues that are found, for rules that say what fits. */
export class Recovery {
  readonly issues: Issue[] = [];
  /** The index of the last token that was read. */
  reach = 0;
  readonly #source: string;
  readonly #tokens: Tokens;
  readonly #kinds: readonly number[];
  #next = 0;
  /** The tokens that may follow each open rule. */
  readonly #follows: number[] = [];
  /** Nothing is reported until a token matches again. */
  #recovering = false;
  #recoveries = 0;
  /** The present place in the rules. */
  protected place = '';
  /** Where the last recoveries were, so that a token is skipped where they repeat. */
  #lastError = -1;
  readonly #lastPlaces = new Set<string>();

  constructor(source: string, tokens: Tokens) {
    this.#source = source;
    this.#tokens = tokens;
    this.#kinds = tokens.kinds;
  }

  protected kind(ahead = 0): number {
    const index = Math.min(this.#next + ahead, this.#kinds.length - 1);
    if (index > this.reach) this.reach = index;
    return this.#kinds[index]!;
  }

  protected in(set: number, ahead = 0): boolean {
    return (bits[this.kind(ahead)]! & set) !== 0;
  }

  /** Takes the next token, which fits. */
  protected take(): void {
    this.#recovering = false;
    this.#lastError = -1;
    this.#lastPlaces.clear();
    this.#skip();
  }

  #skip(): void {
    if (this.#next < this.#kinds.length - 1) this.#next++;
  }

  /** A rule and its follow set; where it does not match, parsing resumes at a token that may follow an open rule. */
  protected rule(follow: number, body: () => void): void {
    const depth = this.#follows.push(follow);
    try {
      body();
    } catch (error) {
      if (!(error instanceof RuleMismatchError)) throw error;
      this.#follows.length = depth;
      if (!this.#recovering) this.#reportMismatch(error);
      this.#recover();
    }
    this.#follows.length = depth - 1;
  }

  protected enter(depth: number): number {
    if (depth < maxDepth) return depth + 1;
    this.issues.push({ offset: -1, message: `expression recursion limit exceeded: ${maxDepth}` });
    throw new RecoveryEndedError();
  }

  /** Looks whether a part of a rule may begin here; where it may after one more token, that one is left out. */
  protected sync(place: string, set: number): void {
    this.place = place;
    if (this.#recovering || this.in(set)) return;
    if (!this.#leaveOut(set)) throw new RuleMismatchError(set, this.#next, this.#next);
  }

  /** The same within a repetition, where all tokens up to one that fits are left out. */
  protected syncRepeated(place: string, set: number): void {
    this.place = place;
    if (this.#recovering || this.in(set)) return;
    this.#reportExtraneous(set);
    const stop = set | this.#recoverySet();
    while (!this.in(stop) && this.kind() !== Token.end) this.#skip();
  }

  protected match(place: string, kind: number, after: number): void {
    this.place = place;
    if (this.kind() === kind) {
      this.take();
      return;
    }
    this.#countRecovery();
    const set = setOf(kind);
    if (this.#leaveOut(set)) {
      this.#skip();
    } else if (this.in(this.#inContext(after))) {
      if (!this.#recovering) this.#report(`missing ${namesOf(set)} at ${this.#display()}`);
      this.#recovering = true;
    } else {
      throw new RuleMismatchError(set, this.#next, this.#next);
    }
  }

  protected unviable(ahead: number): RuleMismatchError {
    return new RuleMismatchError(0, this.#next, Math.min(this.#next + ahead, this.#kinds.length - 1));
  }

  #leaveOut(set: number): boolean {
    if (!this.in(set, 1)) return false;
    this.#reportExtraneous(set);
    this.take();
    return true;
  }

  #countRecovery(): void {
    if (this.#recoveries++ < maxRecoveries) return;
    this.#report(`error recovery attempt limit exceeded: ${maxRecoveries}`);
    throw new RecoveryEndedError();
  }

  #recover(): void {
    this.#countRecovery();
    if (this.#lastError === this.#next && this.#lastPlaces.has(this.place)) this.#skip();
    this.#lastError = this.#next;
    this.#lastPlaces.add(this.place);
    const stop = this.#recoverySet();
    for (let skipped = 0; !this.in(stop) && this.kind() !== Token.end; skipped++) {
      if (skipped === maxSkipped) {
        this.issues.push({ offset: -1, message: `error recovery token lookahead limit exceeded: ${maxSkipped}` });
        throw new RecoveryEndedError();
      }
      this.#skip();
    }
  }

  #recoverySet(): number {
    return this.#follows.reduce((set, follow) => set | follow, 0) & ~ruleEnd;
  }

  /** A set with what follows the open rules that end where it says so. */
  #inContext(set: number): number {
    let result = set;
    for (let depth = this.#follows.length - 1; depth >= 0 && (result & ruleEnd) !== 0; depth--) {
      result = (result & ~ruleEnd) | this.#follows[depth]!;
    }
    return result & ~ruleEnd;
  }

  #report(message: string, index = this.#next): void {
    this.issues.push({ offset: this.#tokens.offsets[index]!, message: `Syntax error: ${message}` });
  }

  #reportExtraneous(set: number): void {
    if (!this.#recovering) this.#report(`extraneous input ${this.#display()} expecting ${namesOf(set)}`);
    this.#recovering = true;
  }

  #reportMismatch({ expected, start, token }: RuleMismatchError): void {
    this.#recovering = true;
    if (expected !== 0) {
      this.#report(`mismatched input ${this.#display()} expecting ${namesOf(expected)}`);
      return;
    }
    const text = this.#textOf(start, token);
    const field = /^.(true|false|null)$/s.exec(text);
    if (field !== null) this.#report(`mismatched input '${field[1]}' expecting IDENTIFIER`, token);
    else this.#report(`no viable alternative at input ${quote(text)}`, token);
  }

  #display(): string {
    return quote(this.#textOf(this.#next, this.#next));
  }

  /** Returns the text of a range of tokens, with the space between them but without characters outside tokens. */
  #textOf(first: number, last: number): string {
    const { starts, ends, unrecognized } = this.#tokens;
    if (this.#kinds[first] === Token.end) return '<EOF>';
    let text = '';
    let from = starts[first]!;
    for (const { start, end } of unrecognized) {
      if (start < from || start >= ends[last]!) continue;
      text += this.#source.slice(from, start);
      from = end;
    }
    return text + this.#source.slice(from, ends[last]);
  }
}

/** The names of the tokens of a set. */
function namesOf(set: number): string {
  const names = tokenNames.filter((_name, kind) => (bits[kind]! & set) !== 0);
  return names.length === 1 ? names[0]! : `{${names.join(', ')}}`;
}

function quote(text: string): string {
  return `'${text.replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;
}
