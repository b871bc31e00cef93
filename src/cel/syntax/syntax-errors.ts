/**
 * What is wrong with a text that the grammar does not have, in the words of the reference: its parser is made by ANTLR,
 * so this follows the generated rules and the default error strategy, which deletes or inserts single tokens and else
 * goes on at a token that may follow an open rule. It runs only after the parser has failed.
 */
import type { Issue } from '../ast.ts';
import type { Tokens } from './lexer.ts';
import { Recovery, ruleEnd, Stopped, setOf } from './recovery.ts';
import { Token } from './tokens.ts';

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

/** The rules of the grammar, as ANTLR generates them. */
class Rules extends Recovery {
  #expressions = 0;
  #relations = 0;
  #sums = 0;

  start(): void {
    try {
      this.rule(0, () => {
        this.#expression(setOf(Token.end));
        this.match('end', Token.end, ruleEnd);
      });
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    }
  }

  #expression(follow: number): void {
    this.#expressions = this.enter(this.#expressions);
    this.rule(follow, () => {
      this.#or(question | ruleEnd);
      if (this.kind() !== Token.question) return;
      this.take();
      this.#or(setOf(Token.colon));
      this.match('else', Token.colon, expressionStart);
      this.#expression(ruleEnd);
    });
    this.#expressions--;
  }

  #or(follow: number): void {
    const next = setOf(Token.or) | ruleEnd;
    this.rule(follow, () => {
      for (this.#and(next); this.kind() === Token.or; this.#and(next)) this.take();
    });
  }

  #and(follow: number): void {
    const next = setOf(Token.and) | ruleEnd;
    this.rule(follow, () => {
      for (this.#relation(next, true); this.kind() === Token.and; this.#relation(next, true)) this.take();
    });
  }

  #relation(follow: number, chained: boolean): void {
    const next = relational | ruleEnd;
    this.#relations = this.enter(this.#relations);
    this.rule(follow, () => {
      for (this.#sum(next, 0); chained && this.in(relational); this.#relation(next, false)) this.take();
    });
    this.#relations--;
  }

  /** Sums (level 0), products (1), or what stands between the operators of products (2). */
  #sum(follow: number, level: number): void {
    this.#sums = this.enter(this.#sums);
    this.rule(follow, () => {
      this.#unary(afterSum);
      for (;;) {
        const product = this.in(multiplying);
        if (!(product ? level < 2 : level < 1 && this.in(afterSum))) return;
        this.take();
        this.#sum(afterSum, product ? 2 : 1);
      }
    });
    this.#sums--;
  }

  #unary(follow: number): void {
    this.rule(follow, () => {
      this.sync('unary', expressionStart);
      const kind = this.kind();
      if (kind === Token.not) {
        while (this.kind() === Token.not) {
          this.take();
          this.syncRepeated('not', expressionStart);
        }
      } else if (kind === Token.minus && !this.in(number, 1)) {
        while (this.kind() === Token.minus) {
          if (!this.in(primaryStart, 1)) throw this.unviable(1);
          this.take();
          this.syncRepeated('negate', primaryStart);
        }
        if (!this.in(primaryStart)) throw this.unviable(0);
      } else if (!this.in(primaryStart)) {
        throw this.unviable(0);
      }
      this.#member(ruleEnd);
    });
  }

  #member(follow: number): void {
    this.rule(follow, () => {
      this.#primary(afterMember);
      for (;;) {
        if (this.kind() === Token.leftBracket) this.#index();
        else if (this.kind() === Token.dot) this.#selection();
        else return;
      }
    });
  }

  #index(): void {
    this.take();
    this.sync('index', question | expressionStart);
    if (this.kind() === Token.question) this.take();
    this.#expression(setOf(Token.rightBracket));
    this.match('index end', Token.rightBracket, afterMember);
  }

  #selection(): void {
    this.place = 'member';
    if (!this.in(name | question, 1)) throw this.unviable(1);
    const isCall = this.kind(1) === Token.identifier && this.kind(2) === Token.leftParenthesis;
    this.take();
    if (isCall) {
      this.take();
      this.#arguments('member call', afterMember);
      return;
    }
    if (this.kind() === Token.question) this.take();
    this.#name('field', afterMember);
  }

  #name(place: string, follow: number): void {
    this.rule(follow, () => {
      this.sync(place, name);
      if (!this.in(name)) throw this.unviable(0);
      this.take();
    });
  }

  /** From the parenthesis of a call on. */
  #arguments(place: string, after: number): void {
    this.take();
    this.sync(place, expressionStart | setOf(Token.rightParenthesis));
    if (this.in(expressionStart)) {
      this.rule(setOf(Token.rightParenthesis), () => {
        for (this.#expression(afterItem); this.kind() === Token.comma; this.#expression(afterItem)) this.take();
      });
    }
    this.match(`${place} end`, Token.rightParenthesis, after);
  }

  #primary(follow: number): void {
    this.rule(follow, () => {
      this.sync('primary', primaryStart);
      const kind = this.kind();
      if (kind === Token.dot || kind === Token.identifier) {
        this.#named();
      } else if (kind === Token.leftParenthesis) {
        this.take();
        this.#expression(setOf(Token.rightParenthesis));
        this.match('nested end', Token.rightParenthesis, ruleEnd);
      } else if (kind === Token.leftBracket) {
        this.#items('list', question | expressionStart, Token.rightBracket, () => this.#optional(afterItem));
      } else if (kind === Token.leftBrace) {
        this.#items('map', question | expressionStart, Token.rightBrace, () => {
          this.#optional(setOf(Token.colon));
          this.#value('map');
        });
      } else if (this.in(literalStart)) {
        this.#literal();
      } else {
        throw this.unviable(0);
      }
    });
  }

  /** A name, a call or an object. */
  #named(): void {
    const dot = this.kind() === Token.dot ? 1 : 0;
    if (this.kind(dot) !== Token.identifier) throw this.unviable(dot);
    let last = dot;
    while (this.kind(last + 1) === Token.dot && this.kind(last + 2) === Token.identifier) last += 2;
    const isObject = this.kind(last + 1) === Token.leftBrace;
    const isCall = !isObject && this.kind(dot + 1) === Token.leftParenthesis;
    for (let count = isObject ? last : dot; count >= 0; count--) this.take();
    if (isCall) this.#arguments('call', ruleEnd);
    if (!isObject) return;
    this.#items('object', question | name, Token.rightBrace, () => {
      this.rule(setOf(Token.colon), () => {
        this.sync('field mark', question | name);
        if (this.kind() === Token.question) this.take();
        this.#name('field name', ruleEnd);
      });
      this.#value('object');
    });
  }

  /** From the opening token of a list, map or object to its end. */
  #items(place: string, first: number, close: number, item: () => void): void {
    const end = setOf(Token.comma, close);
    this.take();
    this.sync(place, first | end);
    if (this.in(first)) {
      this.rule(end, () => {
        for (item(); this.kind() === Token.comma && this.in(first, 1); item()) this.take();
      });
    }
    this.sync(`${place} comma`, end);
    if (this.kind() === Token.comma) this.take();
    this.match(`${place} end`, close, ruleEnd);
  }

  /** An expression that may be marked as optional. */
  #optional(follow: number): void {
    this.rule(follow, () => {
      this.sync('optional', question | expressionStart);
      if (this.kind() === Token.question) this.take();
      this.#expression(ruleEnd);
    });
  }

  #value(place: string): void {
    this.match(`${place} colon`, Token.colon, expressionStart);
    this.#expression(afterItem);
  }

  #literal(): void {
    this.rule(ruleEnd, () => {
      if (this.kind() === Token.minus) {
        if (!this.in(number, 1)) throw this.unviable(1);
        this.take();
      }
      this.take();
    });
  }
}
