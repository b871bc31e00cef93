/**
 * What is wrong with a text that the grammar does not have, in the words of the reference: its parser is made by ANTLR,
 * so this follows the generated rules and the default error strategy, which deletes or inserts single tokens and else
 * goes on at a token that may follow an open rule. It runs only after the parser has failed.
 */
import type { Issue } from '../ast.ts';
import type { Tokens } from './lexer.ts';
import { maxDepth } from './nodes.ts';
import { Token, tokenNames } from './tokens.ts';

const maxRecoveries = 30;
/** Tokens that one recovery may skip. */
const maxSkipped = 256;
const maxReports = 100;

/** The issues of a text that is not in the grammar, or has characters that are in no token, by position. */
export function explain(source: string, tokens: Tokens): readonly Issue[] {
  const rules = new Rules(source, tokens);
  rules.start();
  const { issues, reach } = rules;
  for (const { start, end, offset } of tokens.unrecognized) {
    if (start > tokens.starts[reach]!) break;
    issues.push({ offset, message: `Syntax error: token recognition error at: '${source.slice(start, end)}'` });
  }
  issues.sort((one, other) => one.offset - other.offset);
  if (issues.length <= maxReports) return issues;
  const { offset } = issues[maxReports]!;
  return [...issues.slice(0, maxReports), { offset, message: `Syntax error: More than ${maxReports} syntax errors` }];
}

/** Sets of tokens are bits. Operators of one precedence share a bit: they are in a set together. */
const bits = tokenNames.map((_name, kind) => {
  if (kind >= Token.equals && kind <= Token.greater) return 1 << 1;
  if (kind >= Token.times && kind <= Token.remainder) return 1 << 2;
  return 1 << (kind <= Token.plus ? kind - Token.and + 3 : kind - Token.true + Token.plus - Token.and + 4);
});
const setOf = (...kinds: readonly number[]): number => kinds.reduce((set, kind) => set | bits[kind]!, 0);

/** In a set of what follows: the rule may end here, so that what follows the rule does too. */
const ruleEnd = 1;
const relational = setOf(Token.equals);
const multiplying = setOf(Token.times);
const name = setOf(Token.identifier, Token.escapedIdentifier);
const literalStart = setOf(
  ...[Token.minus, Token.true, Token.false, Token.null],
  ...[Token.float, Token.int, Token.uint, Token.string, Token.bytes],
);
const primaryStart =
  literalStart | setOf(Token.leftBracket, Token.leftBrace, Token.leftParenthesis, Token.dot, Token.identifier);
const expressionStart = primaryStart | setOf(Token.not);
const question = setOf(Token.question);
const number = setOf(Token.float, Token.int);
const afterMember = setOf(Token.dot, Token.leftBracket) | ruleEnd;
const afterItem = setOf(Token.comma) | ruleEnd;
const afterSum = multiplying | setOf(Token.plus, Token.minus) | ruleEnd;

/** A rule does not fit: a token is not one of a set, or, without a set, no alternative goes on after a start. */
class Unfit extends Error {
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

/** No more is to be said. */
class Stopped extends Error {}

class Rules {
  readonly issues: Issue[] = [];
  /** The index of the last token that was looked at. */
  reach = 0;
  readonly #source: string;
  readonly #tokens: Tokens;
  readonly #kinds: readonly number[];
  #next = 0;
  /** What follows each open rule. */
  readonly #follows: number[] = [];
  #expressions = 0;
  #relations = 0;
  #sums = 0;
  /** Until a token fits again, nothing is reported. */
  #recovering = false;
  #recoveries = 0;
  /** The place in the rules that is looked at. */
  #place = '';
  /** Where the last recoveries were, so that a token is skipped where they repeat. */
  #lastError = -1;
  readonly #lastPlaces = new Set<string>();

  constructor(source: string, tokens: Tokens) {
    this.#source = source;
    this.#tokens = tokens;
    this.#kinds = tokens.kinds;
  }

  start(): void {
    try {
      this.#rule(0, () => {
        this.#expression(setOf(Token.end));
        this.#match('end', Token.end, ruleEnd);
      });
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    }
  }

  #kind(ahead = 0): number {
    const index = Math.min(this.#next + ahead, this.#kinds.length - 1);
    if (index > this.reach) this.reach = index;
    return this.#kinds[index]!;
  }

  #in(set: number, ahead = 0): boolean {
    return (bits[this.#kind(ahead)]! & set) !== 0;
  }

  /** Takes the next token, which fits. */
  #take(): void {
    this.#recovering = false;
    this.#lastError = -1;
    this.#lastPlaces.clear();
    this.#skip();
  }

  #skip(): void {
    if (this.#next < this.#kinds.length - 1) this.#next++;
  }

  /** A rule with what may follow it; where it does not fit, goes on at a token that may follow an open rule. */
  #rule(follow: number, body: () => void): void {
    const depth = this.#follows.push(follow);
    try {
      body();
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      this.#follows.length = depth;
      if (!this.#recovering) this.#reportUnfit(error);
      this.#recover();
    }
    this.#follows.length = depth - 1;
  }

  #enter(depth: number): number {
    if (depth < maxDepth) return depth + 1;
    this.issues.push({ offset: -1, message: `expression recursion limit exceeded: ${maxDepth}` });
    throw new Stopped();
  }

  /** Looks whether a part of a rule may begin here; where it may after one more token, that one is left out. */
  #sync(place: string, set: number): void {
    this.#place = place;
    if (this.#recovering || this.#in(set)) return;
    if (!this.#leaveOut(set)) throw new Unfit(set, this.#next, this.#next);
  }

  /** The same within a repetition, where all tokens up to one that fits are left out. */
  #syncRepeated(place: string, set: number): void {
    this.#place = place;
    if (this.#recovering || this.#in(set)) return;
    this.#reportExtraneous(set);
    const stop = set | this.#recoverySet();
    while (!this.#in(stop) && this.#kind() !== Token.end) this.#skip();
  }

  #match(place: string, kind: number, after: number): void {
    this.#place = place;
    if (this.#kind() === kind) {
      this.#take();
      return;
    }
    this.#countRecovery();
    const set = setOf(kind);
    if (this.#leaveOut(set)) {
      this.#skip();
    } else if (this.#in(this.#inContext(after))) {
      if (!this.#recovering) this.#report(`missing ${namesOf(set)} at ${this.#display()}`);
      this.#recovering = true;
    } else {
      throw new Unfit(set, this.#next, this.#next);
    }
  }

  #unviable(ahead: number): Unfit {
    return new Unfit(0, this.#next, Math.min(this.#next + ahead, this.#kinds.length - 1));
  }

  #leaveOut(set: number): boolean {
    if (!this.#in(set, 1)) return false;
    this.#reportExtraneous(set);
    this.#take();
    return true;
  }

  #countRecovery(): void {
    if (this.#recoveries++ < maxRecoveries) return;
    this.#report(`error recovery attempt limit exceeded: ${maxRecoveries}`);
    throw new Stopped();
  }

  #recover(): void {
    this.#countRecovery();
    if (this.#lastError === this.#next && this.#lastPlaces.has(this.#place)) this.#skip();
    this.#lastError = this.#next;
    this.#lastPlaces.add(this.#place);
    const stop = this.#recoverySet();
    for (let skipped = 0; !this.#in(stop) && this.#kind() !== Token.end; skipped++) {
      if (skipped === maxSkipped) {
        this.issues.push({ offset: -1, message: `error recovery token lookahead limit exceeded: ${maxSkipped}` });
        throw new Stopped();
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

  #reportUnfit({ expected, start, token }: Unfit): void {
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

  /** The text of a range of tokens, with the space between them, and without what is no token. */
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

  #expression(follow: number): void {
    this.#expressions = this.#enter(this.#expressions);
    this.#rule(follow, () => {
      this.#or(question | ruleEnd);
      if (this.#kind() !== Token.question) return;
      this.#take();
      this.#or(setOf(Token.colon));
      this.#match('else', Token.colon, expressionStart);
      this.#expression(ruleEnd);
    });
    this.#expressions--;
  }

  #or(follow: number): void {
    const next = setOf(Token.or) | ruleEnd;
    this.#rule(follow, () => {
      for (this.#and(next); this.#kind() === Token.or; this.#and(next)) this.#take();
    });
  }

  #and(follow: number): void {
    const next = setOf(Token.and) | ruleEnd;
    this.#rule(follow, () => {
      for (this.#relation(next, true); this.#kind() === Token.and; this.#relation(next, true)) this.#take();
    });
  }

  #relation(follow: number, chained: boolean): void {
    const next = relational | ruleEnd;
    this.#relations = this.#enter(this.#relations);
    this.#rule(follow, () => {
      for (this.#sum(next, 0); chained && this.#in(relational); this.#relation(next, false)) this.#take();
    });
    this.#relations--;
  }

  /** Sums (level 0), products (1), or what stands between the operators of products (2). */
  #sum(follow: number, level: number): void {
    this.#sums = this.#enter(this.#sums);
    this.#rule(follow, () => {
      this.#unary(afterSum);
      for (;;) {
        const product = this.#in(multiplying);
        if (!(product ? level < 2 : level < 1 && this.#in(afterSum))) return;
        this.#take();
        this.#sum(afterSum, product ? 2 : 1);
      }
    });
    this.#sums--;
  }

  #unary(follow: number): void {
    this.#rule(follow, () => {
      this.#sync('unary', expressionStart);
      const kind = this.#kind();
      if (kind === Token.not) {
        while (this.#kind() === Token.not) {
          this.#take();
          this.#syncRepeated('not', expressionStart);
        }
      } else if (kind === Token.minus && !this.#in(number, 1)) {
        while (this.#kind() === Token.minus) {
          if (!this.#in(primaryStart, 1)) throw this.#unviable(1);
          this.#take();
          this.#syncRepeated('negate', primaryStart);
        }
        if (!this.#in(primaryStart)) throw this.#unviable(0);
      } else if (!this.#in(primaryStart)) {
        throw this.#unviable(0);
      }
      this.#member(ruleEnd);
    });
  }

  #member(follow: number): void {
    this.#rule(follow, () => {
      this.#primary(afterMember);
      for (;;) {
        if (this.#kind() === Token.leftBracket) this.#index();
        else if (this.#kind() === Token.dot) this.#selection();
        else return;
      }
    });
  }

  #index(): void {
    this.#take();
    this.#sync('index', question | expressionStart);
    if (this.#kind() === Token.question) this.#take();
    this.#expression(setOf(Token.rightBracket));
    this.#match('index end', Token.rightBracket, afterMember);
  }

  #selection(): void {
    this.#place = 'member';
    if (!this.#in(name | question, 1)) throw this.#unviable(1);
    const isCall = this.#kind(1) === Token.identifier && this.#kind(2) === Token.leftParenthesis;
    this.#take();
    if (isCall) {
      this.#take();
      this.#arguments('member call', afterMember);
      return;
    }
    if (this.#kind() === Token.question) this.#take();
    this.#name('field', afterMember);
  }

  #name(place: string, follow: number): void {
    this.#rule(follow, () => {
      this.#sync(place, name);
      if (!this.#in(name)) throw this.#unviable(0);
      this.#take();
    });
  }

  /** From the parenthesis of a call on. */
  #arguments(place: string, after: number): void {
    this.#take();
    this.#sync(place, expressionStart | setOf(Token.rightParenthesis));
    if (this.#in(expressionStart)) {
      this.#rule(setOf(Token.rightParenthesis), () => {
        for (this.#expression(afterItem); this.#kind() === Token.comma; this.#expression(afterItem)) this.#take();
      });
    }
    this.#match(`${place} end`, Token.rightParenthesis, after);
  }

  #primary(follow: number): void {
    this.#rule(follow, () => {
      this.#sync('primary', primaryStart);
      const kind = this.#kind();
      if (kind === Token.dot || kind === Token.identifier) {
        this.#named();
      } else if (kind === Token.leftParenthesis) {
        this.#take();
        this.#expression(setOf(Token.rightParenthesis));
        this.#match('nested end', Token.rightParenthesis, ruleEnd);
      } else if (kind === Token.leftBracket) {
        this.#items('list', question | expressionStart, Token.rightBracket, () => this.#optional(afterItem));
      } else if (kind === Token.leftBrace) {
        this.#items('map', question | expressionStart, Token.rightBrace, () => {
          this.#optional(setOf(Token.colon));
          this.#value('map');
        });
      } else if (this.#in(literalStart)) {
        this.#literal();
      } else {
        throw this.#unviable(0);
      }
    });
  }

  /** A name, a call or an object. */
  #named(): void {
    const dot = this.#kind() === Token.dot ? 1 : 0;
    if (this.#kind(dot) !== Token.identifier) throw this.#unviable(dot);
    let last = dot;
    while (this.#kind(last + 1) === Token.dot && this.#kind(last + 2) === Token.identifier) last += 2;
    const isObject = this.#kind(last + 1) === Token.leftBrace;
    const isCall = !isObject && this.#kind(dot + 1) === Token.leftParenthesis;
    for (let count = isObject ? last : dot; count >= 0; count--) this.#take();
    if (isCall) this.#arguments('call', ruleEnd);
    if (!isObject) return;
    this.#items('object', question | name, Token.rightBrace, () => {
      this.#rule(setOf(Token.colon), () => {
        this.#sync('field mark', question | name);
        if (this.#kind() === Token.question) this.#take();
        this.#name('field name', ruleEnd);
      });
      this.#value('object');
    });
  }

  /** From the opening token of a list, map or object to its end. */
  #items(place: string, first: number, close: number, item: () => void): void {
    const end = setOf(Token.comma, close);
    this.#take();
    this.#sync(place, first | end);
    if (this.#in(first)) {
      this.#rule(end, () => {
        for (item(); this.#kind() === Token.comma && this.#in(first, 1); item()) this.#take();
      });
    }
    this.#sync(`${place} comma`, end);
    if (this.#kind() === Token.comma) this.#take();
    this.#match(`${place} end`, close, ruleEnd);
  }

  /** An expression that may be marked as optional. */
  #optional(follow: number): void {
    this.#rule(follow, () => {
      this.#sync('optional', question | expressionStart);
      if (this.#kind() === Token.question) this.#take();
      this.#expression(ruleEnd);
    });
  }

  #value(place: string): void {
    this.#match(`${place} colon`, Token.colon, expressionStart);
    this.#expression(afterItem);
  }

  #literal(): void {
    this.#rule(ruleEnd, () => {
      if (this.#kind() === Token.minus) {
        if (!this.#in(number, 1)) throw this.#unviable(1);
        this.#take();
      }
      this.#take();
    });
  }
}

/** The names of the tokens of a set. */
function namesOf(set: number): string {
  const names = tokenNames.filter((_name, kind) => kind > 0 && (bits[kind]! & set) !== 0);
  return names.length === 1 ? names[0]! : `{${names.join(', ')}}`;
}

function quote(text: string): string {
  return `'${text.replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;
}
