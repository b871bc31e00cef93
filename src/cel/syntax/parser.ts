import type { Expr, FieldEntry, MapEntry } from '../ast.ts';
import type { Tokens } from './lexer.ts';
import { literal } from './literals.ts';
import { expandMacro, type MacroSet } from './macros.ts';
import { maxDepth, type Nodes, ParseLimitError } from './nodes.ts';
import { binaryFunctions, reservedIdentifiers, Token } from './tokens.ts';

export interface ParseOptions {
  /** `a.?b`, `a[?k]`, `[?e]`, `{?k: v}`, and the macros `optMap` and `optFlatMap`. */
  readonly optionalSyntax?: boolean;
  /** `all(i, v, …)`, `transformList`, `transformMap`, and so on. */
  readonly twoVariableMacros?: boolean;
  /** `cel.bind`. */
  readonly bindings?: boolean;
  /** `math.greatest` and `math.least`. */
  readonly mathMacros?: boolean;
  /** Names of fields in backticks. */
  readonly escapedIdentifiers?: boolean;
}

/** A token that no rule of the grammar accepts. */
class UnexpectedTokenError extends Error {}

/**
 * A recursive descent parser. It stops at the first token that does not match; `explain` then finds the errors. Both the
 * nesting of rules and the counted nodes on one path of the tree are limited by `maxDepth`, so that recursion is safe.
 */
export class Parser {
  readonly #source: string;
  readonly #tokens: Tokens;
  readonly #kinds: readonly number[];
  readonly #nodes: Nodes;
  readonly #options: ParseOptions;
  readonly #macros = new Set<MacroSet>();
  /** The index of the next token. */
  #next = 0;
  /** How often each recursive rule is entered. */
  #expressions = 0;
  #relations = 0;
  #sums = 0;
  /** The number of counted nodes on the deepest path of the latest tree. */
  #height = 0;

  constructor(source: string, tokens: Tokens, nodes: Nodes, options: ParseOptions) {
    this.#source = source;
    this.#tokens = tokens;
    this.#kinds = tokens.kinds;
    this.#nodes = nodes;
    this.#options = options;
    if (options.optionalSyntax) this.#macros.add('optional');
    if (options.twoVariableMacros) this.#macros.add('twoVariable');
    if (options.bindings) this.#macros.add('bindings');
    if (options.mathMacros) this.#macros.add('math');
  }

  /** The tree of the whole source; undefined for a syntax error. */
  start(): Expr | undefined {
    try {
      const expr = this.#expression();
      return this.#kind() === Token.end ? expr : undefined;
    } catch (error) {
      if (error instanceof UnexpectedTokenError) return undefined;
      throw error;
    }
  }

  #kind(ahead = 0): number {
    return this.#kinds[this.#next + ahead] ?? Token.end;
  }

  #offset(index = this.#next): number {
    return this.#tokens.offsets[index]!;
  }

  #text(index: number): string {
    return this.#source.slice(this.#tokens.starts[index], this.#tokens.ends[index]);
  }

  /** Takes a token of a kind and gives its index. */
  #take(kind: number): number {
    if (this.#kinds[this.#next] !== kind) throw new UnexpectedTokenError();
    return this.#next++;
  }

  /** Takes a token when it is of a kind. */
  #accept(kind: number): boolean {
    if (this.#kinds[this.#next] !== kind) return false;
    this.#next++;
    return true;
  }

  #enter(depth: number): number {
    if (depth >= maxDepth) throw new ParseLimitError(`expression recursion limit exceeded: ${maxDepth}`);
    return depth + 1;
  }

  /** Counts a node above trees of two heights. */
  #rise(one: number, other: number): void {
    this.#height = Math.max(one, other) + 1;
    if (this.#height > maxDepth) throw new ParseLimitError('max recursion depth exceeded');
  }

  #expression(): Expr {
    this.#expressions = this.#enter(this.#expressions);
    let expr = this.#or();
    if (this.#kind() === Token.question) {
      const offset = this.#offset(this.#next++);
      let height = this.#height;
      const yes = this.#or();
      height = Math.max(height, this.#height);
      this.#take(Token.colon);
      const no = this.#expression();
      this.#rise(height, this.#height);
      expr = this.#nodes.call(offset, '_?_:_', [expr, yes, no]);
    }
    this.#expressions--;
    return expr;
  }

  #or(): Expr {
    return this.#logical(Token.or, '_||_');
  }

  /** Terms with `||` or `&&` between them. */
  #logical(kind: number, name: string): Expr {
    const first = this.#term(kind);
    if (this.#kind() !== kind) return first;
    const terms = [first];
    const offsets: number[] = [];
    let height = this.#height;
    while (this.#kind() === kind) {
      offsets.push(this.#offset(this.#next++));
      terms.push(this.#term(kind));
      height = Math.max(height, this.#height);
    }
    this.#height = height;
    return this.#balanced(name, terms, offsets, 0, offsets.length - 1);
  }

  #term(kind: number): Expr {
    return kind === Token.or ? this.#logical(Token.and, '_&&_') : this.#relation();
  }

  /** The terms with the operators of a range between them, as a tree of the least depth. */
  #balanced(name: string, terms: readonly Expr[], offsets: readonly number[], low: number, high: number): Expr {
    const middle = (low + high + 1) >> 1;
    const left = middle === low ? terms[middle]! : this.#balanced(name, terms, offsets, low, middle - 1);
    const right = middle === high ? terms[middle + 1]! : this.#balanced(name, terms, offsets, middle + 1, high);
    return this.#nodes.call(offsets[middle]!, name, [left, right]);
  }

  #relation(): Expr {
    const before = this.#relations;
    this.#relations = this.#enter(before);
    let left = this.#sum(0);
    for (let kind = this.#kind(); kind >= Token.equals && kind <= Token.greater; kind = this.#kind()) {
      const height = this.#height;
      const offset = this.#offset(this.#next++);
      this.#relations = this.#enter(before + 1);
      const right = this.#sum(0);
      this.#relations = before + 1;
      this.#rise(height, this.#height);
      left = this.#nodes.call(offset, binaryFunctions[kind]!, [left, right]);
    }
    this.#relations = before;
    return left;
  }

  /** Sums and products whose operators bind more tightly than a level: 0 for all, 1 for products, 2 for none. */
  #sum(level: 0 | 1 | 2): Expr {
    const before = this.#sums;
    this.#sums = this.#enter(before);
    let left = this.#unary();
    for (;;) {
      const kind = this.#kind();
      const sum = kind === Token.plus || kind === Token.minus;
      const product = kind >= Token.times && kind <= Token.remainder;
      if (!(sum && level < 1) && !(product && level < 2)) break;
      const height = this.#height;
      const offset = this.#offset(this.#next++);
      const right = this.#sum(sum ? 1 : 2);
      this.#rise(height, this.#height);
      left = this.#nodes.call(offset, sum && kind === Token.minus ? '_-_' : binaryFunctions[kind]!, [left, right]);
    }
    this.#sums = before;
    return left;
  }

  #unary(): Expr {
    const kind = this.#kind();
    if (kind !== Token.not && (kind !== Token.minus || this.#isNumber(1))) return this.#member();
    const offset = this.#offset();
    let count = 0;
    while (this.#accept(kind)) count++;
    const operand = this.#member();
    if (count % 2 === 0) return operand;
    return this.#nodes.call(offset, kind === Token.not ? '!_' : '-_', [operand]);
  }

  /** Whether the token ahead is a number, which includes a sign before it. */
  #isNumber(ahead: number): boolean {
    const kind = this.#kind(ahead);
    return kind === Token.int || kind === Token.float;
  }

  #member(): Expr {
    let expr = this.#primary();
    for (;;) {
      const kind = this.#kind();
      if (kind === Token.dot) expr = this.#selection(expr);
      else if (kind === Token.leftBracket) expr = this.#index(expr);
      else return expr;
    }
  }

  /** `.field`, `.?field` or `.function(…)`. */
  #selection(operand: Expr): Expr {
    const height = this.#height;
    const dot = this.#offset(this.#next++);
    const optional = this.#accept(Token.question);
    const name = this.#next;
    if (!optional && this.#kind() === Token.identifier && this.#kind(1) === Token.leftParenthesis) {
      this.#next++;
      return this.#call(this.#text(name), operand);
    }
    const field = this.#fieldName();
    this.#rise(height, 0);
    if (!optional) return this.#nodes.select(dot, operand, field);
    if (!this.#options.optionalSyntax) return this.#nodes.invalid(dot, "unsupported syntax '.?'");
    const key = this.#nodes.literal(this.#offset(name), { type: 'string', value: field });
    return this.#nodes.call(dot, '_?._', [operand, key]);
  }

  #fieldName(issueOffset = this.#offset()): string {
    const index = this.#next;
    if (this.#accept(Token.identifier)) return this.#text(index);
    this.#take(Token.escapedIdentifier);
    if (!this.#options.escapedIdentifiers) this.#nodes.invalid(issueOffset, "unsupported syntax: '`'");
    return this.#text(index).slice(1, -1);
  }

  #index(operand: Expr): Expr {
    const height = this.#height;
    const offset = this.#offset(this.#next++);
    const optional = this.#accept(Token.question);
    const index = this.#expression();
    this.#take(Token.rightBracket);
    this.#rise(height, this.#height);
    if (!optional) return this.#nodes.call(offset, '_[_]', [operand, index]);
    if (!this.#options.optionalSyntax) return this.#nodes.invalid(offset, "unsupported syntax '[?'");
    return this.#nodes.call(offset, '_[?_]', [operand, index]);
  }

  /** A call from its parenthesis on, or what its macro expands to. */
  #call(name: string, target: Expr | undefined): Expr {
    let height = target === undefined ? 0 : this.#height;
    const offset = this.#offset(this.#take(Token.leftParenthesis));
    const args: Expr[] = [];
    if (!this.#accept(Token.rightParenthesis)) {
      do {
        args.push(this.#expression());
        height = Math.max(height, this.#height);
      } while (this.#accept(Token.comma));
      this.#take(Token.rightParenthesis);
    }
    if (target === undefined) this.#height = height;
    else this.#rise(height, 0);
    const expanded = expandMacro(name, { nodes: this.#nodes, offset, target, args }, this.#macros);
    return expanded ?? this.#nodes.call(offset, name, args, target);
  }

  #primary(): Expr {
    this.#height = 0;
    switch (this.#kind()) {
      case Token.identifier:
      case Token.dot:
        return this.#nameOrCall();
      case Token.leftParenthesis: {
        this.#next++;
        const expr = this.#expression();
        this.#take(Token.rightParenthesis);
        return expr;
      }
      case Token.leftBracket:
        return this.#list();
      case Token.leftBrace:
        return this.#map();
      default:
        return this.#literal();
    }
  }

  /** A name, a call, or an object. */
  #nameOrCall(): Expr {
    const dot = this.#kind() === Token.dot ? 1 : 0;
    const first = this.#next + dot;
    const start = this.#next;
    let ahead = dot;
    if (this.#kind(ahead) !== Token.identifier) throw new UnexpectedTokenError();
    while (this.#kind(ahead + 1) === Token.dot && this.#kind(ahead + 2) === Token.identifier) ahead += 2;
    if (this.#kind(ahead + 1) === Token.leftBrace) return this.#object(ahead);
    this.#next = first + 1;
    const name = this.#text(first);
    if (reservedIdentifiers.has(name)) {
      if (this.#kind() === Token.leftParenthesis) this.#call(name, undefined);
      return this.#nodes.invalid(this.#offset(start), `reserved identifier: ${name}`);
    }
    const rooted = dot === 1 ? `.${name}` : name;
    if (this.#kind() === Token.leftParenthesis) return this.#call(rooted, undefined);
    return this.#nodes.identifier(this.#offset(first), rooted);
  }

  #list(): Expr {
    const offset = this.#offset(this.#next++);
    const elements: Expr[] = [];
    const optional = new Set<number>();
    let height = 0;
    while (this.#kind() !== Token.rightBracket && this.#kind() !== Token.comma) {
      if (this.#acceptOptional()) optional.add(elements.length);
      elements.push(this.#expression());
      height = Math.max(height, this.#height);
      if (this.#kind() !== Token.comma || this.#kind(1) === Token.rightBracket) break;
      this.#next++;
      if (this.#kind() === Token.comma) throw new UnexpectedTokenError();
    }
    this.#accept(Token.comma);
    this.#take(Token.rightBracket);
    this.#height = height;
    return this.#nodes.list(offset, elements, optional);
  }

  /** Whether a mark of optional elements stands here. */
  #acceptOptional(): boolean {
    const index = this.#next;
    if (!this.#accept(Token.question)) return false;
    if (!this.#options.optionalSyntax) this.#nodes.invalid(this.#offset(index), "unsupported syntax '?'");
    return true;
  }

  /** The entries of a map or object up to its brace. */
  #entries<Entry>(entry: (optional: boolean) => Entry): Entry[] {
    const entries: Entry[] = [];
    const { issues } = this.#nodes;
    let height = 0;
    while (this.#kind() !== Token.rightBrace && this.#kind() !== Token.comma) {
      const reported = issues.length;
      const optional = this.#acceptOptional();
      entries.push(entry(optional));
      // Further issues of an entry with an unsupported mark are dropped.
      if (optional && !this.#options.optionalSyntax) issues.length = reported + 1;
      height = Math.max(height, this.#height);
      if (this.#kind() !== Token.comma || this.#kind(1) === Token.rightBrace) break;
      this.#next++;
      if (this.#kind() === Token.comma) throw new UnexpectedTokenError();
    }
    this.#accept(Token.comma);
    this.#take(Token.rightBrace);
    this.#height = height;
    return entries;
  }

  #map(): Expr {
    const offset = this.#offset(this.#next++);
    const entries = this.#entries<MapEntry>((optional) => {
      const key = this.#expression();
      const height = this.#height;
      const colon = this.#offset(this.#take(Token.colon));
      const value = this.#expression();
      this.#height = Math.max(height, this.#height);
      return this.#nodes.mapEntry(colon, key, value, optional);
    });
    return this.#nodes.map(offset, entries);
  }

  /** An object whose name has a number of tokens up to its last identifier. */
  #object(last: number): Expr {
    let name = '';
    for (let count = 0; count <= last; count++) name += this.#text(this.#next++);
    const offset = this.#offset(this.#take(Token.leftBrace));
    const first = this.#offset();
    const entries = this.#entries<FieldEntry>((optional) => {
      const field = this.#fieldName(first);
      const colon = this.#offset(this.#take(Token.colon));
      const value = this.#expression();
      return this.#nodes.fieldEntry(colon, field, value, optional);
    });
    return this.#nodes.object(offset, name, entries);
  }

  #literal(): Expr {
    const offset = this.#offset();
    const negative = this.#accept(Token.minus);
    const index = this.#next;
    const kind = this.#kind();
    if (negative && !this.#isNumber(0)) throw new UnexpectedTokenError();
    if (kind < Token.true || kind > Token.bytes) throw new UnexpectedTokenError();
    this.#next++;
    return literal(this.#nodes, offset, kind, this.#text(index), negative);
  }
}
