import type {
  Call,
  Comprehension,
  Expr,
  Identifier,
  Issue,
  ListLiteral,
  LiteralValue,
  MapLiteral,
  ObjectLiteral,
  Select,
} from '../ast.ts';
import type { Environment, Reference } from '../environment.ts';
import type { Overload } from '../library.ts';
import { setAt } from '../node-table.ts';
import {
  anyType,
  boolType,
  bytesType,
  type CelType,
  doubleType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  optionalType,
  stringType,
  uintType,
} from '../types.ts';
import { resolveFunction, resolveName } from './environment.ts';
import { errorType, formatSignature, formatType } from './format.ts';
import { resolveOverloads } from './overloads.ts';
import { Unifier } from './unify.ts';

const literalTypes: { readonly [type in LiteralValue['type']]: CelType } = {
  null: nullType,
  bool: boolType,
  int: intType,
  uint: uintType,
  double: doubleType,
  string: stringType,
  bytes: bytesType,
};

/** The local variables of comprehensions, the innermost first. */
interface Scope {
  readonly name: string;
  readonly type: CelType;
  readonly outer: Scope | undefined;
}

/** One check. Goes on after an issue with a type that is assignable to all. */
export class Checker {
  readonly unifier = new Unifier();
  readonly issues: Issue[] = [];
  readonly typeOf: (CelType | undefined)[] = [];
  readonly referenceOf: (Reference | undefined)[] = [];
  readonly variables = new Set<string>();
  readonly #environment: Environment;
  #scope: Scope | undefined;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  check(expr: Expr): this {
    this.#visit(expr);
    return this;
  }

  #visit(expr: Expr): CelType {
    const type = this.#typeOf(expr);
    setAt(this.typeOf, expr.id, type);
    return type;
  }

  #typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case 'literal':
        return literalTypes[expr.value.type];
      case 'identifier':
        return this.#identifier(expr);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'object':
        return this.#object(expr);
      case 'comprehension':
        return this.#comprehension(expr);
    }
  }

  #report(offset: number, message: string): CelType {
    this.issues.push({ offset, message });
    return errorType;
  }

  #undeclared(expr: Expr, name: string): CelType {
    return this.#report(
      expr.offset,
      `undeclared reference to '${name}' (in container '${this.#environment.container}')`,
    );
  }

  #mismatch(expr: Expr, expected: CelType, actual: CelType): void {
    const names = [expected, actual].map((type) => formatType(this.unifier.substitute(type)));
    this.#report(expr.offset, `expected type '${names[0]}' but found '${names[1]}'`);
  }

  #identifier(expr: Identifier): CelType {
    return this.#local(expr.name)?.type ?? this.#global(expr, expr.name) ?? this.#undeclared(expr, expr.name);
  }

  #local(name: string): Scope | undefined {
    let scope = this.#scope;
    while (scope !== undefined && scope.name !== name) scope = scope.outer;
    return scope;
  }

  /** The type of a node that is a declared name; undefined: it is not. */
  #global(expr: Expr, name: string): CelType | undefined {
    const resolved = resolveName(this.#environment, name);
    if (resolved === undefined) return undefined;
    setAt(this.referenceOf, expr.id, resolved.reference);
    if (resolved.reference.kind === 'variable') this.variables.add(resolved.reference.name);
    return resolved.type;
  }

  #select(expr: Select): CelType {
    const [first, name] = qualifiedName(expr) ?? [];
    const shadowed = first !== undefined && this.#local(first) !== undefined;
    const global = name === undefined || shadowed ? undefined : this.#global(expr, name);
    if (global !== undefined) return global;
    const type = this.#field(expr, expr.operand, expr.field, false);
    return expr.test ? boolType : this.unifier.substitute(type);
  }

  /** The type of a field of the operand, which is optional through optionals. */
  #field(expr: Expr, operand: Expr, field: string, optional: boolean): CelType {
    const type = this.unifier.substitute(this.#visit(operand));
    const container = type.kind === 'optional' ? type.value : type;
    const result = this.#fieldOf(expr, container, field);
    return optional || type.kind === 'optional' ? optionalType(result) : result;
  }

  #fieldOf(expr: Expr, container: CelType, field: string): CelType {
    switch (container.kind) {
      case 'map':
        return container.value;
      case 'object':
        return container.field(field)?.type ?? this.#report(expr.offset, `undefined field '${field}'`);
      case 'parameter':
        this.unifier.assignable(dynType, container);
        return dynType;
      case 'dyn':
        return dynType;
      default:
        this.#report(expr.offset, `type '${formatType(container)}' does not support field selection`);
        return dynType;
    }
  }

  #call(expr: Call): CelType {
    if (expr.function === '_?._') return this.#optionalSelect(expr);
    const args = expr.args.map((arg) => this.#visit(arg));
    if (expr.target === undefined) return this.#resolve(expr, resolveFunction(this.#environment, expr.function), args);
    const [, namespace] = qualifiedName(expr.target) ?? [];
    if (namespace !== undefined) {
      const name = `${namespace}.${expr.function}`;
      const qualified = resolveFunction(this.#environment, name);
      if (qualified !== undefined) return this.#resolve(expr, qualified, args, name);
    }
    args.unshift(this.#visit(expr.target));
    return this.#resolve(expr, resolveFunction(this.#environment, expr.function), args);
  }

  /** `qualified` is the whole name of a function whose target is a namespace. */
  #resolve(
    expr: Call,
    overloads: readonly Overload[] | undefined,
    args: readonly CelType[],
    qualified?: string,
  ): CelType {
    if (overloads === undefined) return this.#undeclared(expr, expr.function);
    if (expr.function === '_&&_' || expr.function === '_||_') return this.#logical(expr, overloads, args);
    const member = expr.target !== undefined && qualified === undefined;
    const resolved = resolveOverloads(this.unifier, overloads, args, member);
    if (resolved === undefined) {
      const signature = formatSignature(
        args.map((type) => this.unifier.substitute(type, dynType)),
        member,
      );
      const name = qualified ?? expr.function;
      return this.#report(expr.offset, `found no matching overload for '${name}' applied to '${signature}'`);
    }
    setAt(this.referenceOf, expr.id, {
      kind: 'function',
      overloads: resolved.overloads,
      qualified: qualified !== undefined,
    });
    return resolved.type;
  }

  #logical(expr: Call, overloads: readonly Overload[], args: readonly CelType[]): CelType {
    let type: CelType = boolType;
    for (const [i, arg] of args.entries()) {
      if (this.unifier.assignable(arg, boolType)) continue;
      this.#mismatch(expr.args[i] ?? expr, boolType, arg);
      type = errorType;
    }
    setAt(this.referenceOf, expr.id, { kind: 'function', overloads, qualified: false });
    return type;
  }

  #optionalSelect(expr: Call): CelType {
    const [operand, field] = expr.args;
    const overloads = resolveFunction(this.#environment, expr.function);
    if (overloads === undefined) return this.#undeclared(expr, expr.function);
    if (operand === undefined || field?.kind !== 'literal' || field.value.type !== 'string') {
      return this.#report(expr.offset, 'unsupported optional field selection');
    }
    const type = this.#field(expr, operand, field.value.value, true);
    setAt(this.typeOf, field.id, stringType);
    setAt(this.referenceOf, expr.id, { kind: 'function', overloads, qualified: false });
    return this.unifier.substitute(type);
  }

  #list(expr: ListLiteral): CelType {
    let joined: CelType | undefined;
    for (const [i, element] of expr.elements.entries()) {
      joined = this.#join(joined, this.#item(element, expr.optional.has(i)));
    }
    return listType(joined ?? this.unifier.variable());
  }

  #map(expr: MapLiteral): CelType {
    let key: CelType | undefined;
    let value: CelType | undefined;
    for (const entry of expr.entries) {
      key = this.#join(key, this.#visit(entry.key));
      value = this.#join(value, this.#item(entry.value, entry.optional));
    }
    return mapType(key ?? this.unifier.variable(), value ?? this.unifier.variable());
  }

  /** The type of a value of a literal; `optional`: of the value in its optional. */
  #item(expr: Expr, optional: boolean): CelType {
    const type = this.#visit(expr);
    if (!optional) return type;
    const unwrapped = this.unifier.substitute(type);
    if (unwrapped.kind === 'optional') return unwrapped.value;
    if (unwrapped.kind !== 'dyn') this.#mismatch(expr, optionalType(unwrapped), unwrapped);
    return unwrapped;
  }

  /** The type that elements of both types share: literals of several types are dyn, until they are validated. */
  #join(before: CelType | undefined, type: CelType): CelType {
    if (before === undefined) return type;
    return this.unifier.assignable(before, type) ? this.unifier.mostGeneral(before, type) : dynType;
  }

  #object(expr: ObjectLiteral): CelType {
    const resolved = resolveName(this.#environment, expr.name);
    const type = resolved?.reference.kind === 'type' ? resolved.reference.type : undefined;
    if (resolved === undefined) this.#undeclared(expr, expr.name);
    else if (type === undefined) this.#report(expr.offset, `'${formatType(resolved.type)}' is not a type`);
    else if (type.kind !== 'object') this.#report(expr.offset, `'${formatType(type)}' is not a message type`);
    else setAt(this.referenceOf, expr.id, { kind: 'type', type });
    for (const entry of expr.entries) {
      const value = this.#item(entry.value, entry.optional);
      if (type?.kind !== 'object') continue;
      const field = type.field(entry.field)?.type;
      if (field === undefined) {
        this.#report(entry.offset, `undefined field '${entry.field}'`);
      } else if (!this.unifier.assignable(field, value)) {
        const [expected, provided] = [field, value].map((each) => formatType(this.unifier.substitute(each)));
        this.#report(
          entry.offset,
          `expected type of field '${entry.field}' is '${expected}' but provided type is '${provided}'`,
        );
      }
    }
    return type?.kind === 'object' ? type : errorType;
  }

  #comprehension(expr: Comprehension): CelType {
    const range = this.unifier.substitute(this.#visit(expr.range));
    const accumulator = this.#visit(expr.initial);
    const outer = this.#scope;
    const around: Scope = { name: expr.accumulator, type: accumulator, outer };
    const [first, second] = this.#variableTypes(expr, range);
    this.#scope = { name: expr.variable, type: first, outer: around };
    if (expr.second !== undefined) this.#scope = { name: expr.second, type: second, outer: this.#scope };
    this.#require(expr.condition, boolType);
    this.#require(expr.step, accumulator);
    this.#scope = around;
    const result = this.#visit(expr.result);
    this.#scope = outer;
    return this.unifier.substitute(result);
  }

  /** The types of the variable and of the second one. */
  #variableTypes(expr: Comprehension, range: CelType): readonly [CelType, CelType] {
    if (range === anyType) return this.#notIterable(expr, range);
    switch (range.kind) {
      case 'list':
        return [expr.second === undefined ? range.element : intType, range.element];
      case 'map':
        return [range.key, range.value];
      case 'parameter':
      case 'dyn':
        this.unifier.assignable(dynType, range);
        return [dynType, dynType];
      default:
        return this.#notIterable(expr, range);
    }
  }

  #notIterable(expr: Comprehension, range: CelType): readonly [CelType, CelType] {
    this.#report(
      expr.range.offset,
      `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    );
    return [errorType, errorType];
  }

  #require(expr: Expr, type: CelType): void {
    const actual = this.#visit(expr);
    if (!this.unifier.assignable(type, actual)) this.#mismatch(expr, type, actual);
  }
}

/** The first name and the whole of `a.b.c`; undefined when an expression is not of names alone. */
function qualifiedName(expr: Expr): readonly [first: string, whole: string] | undefined {
  if (expr.kind === 'identifier') return [expr.name, expr.name];
  if (expr.kind !== 'select' || expr.test) return undefined;
  const operand = qualifiedName(expr.operand);
  return operand && [operand[0], `${operand[1]}.${expr.field}`];
}
