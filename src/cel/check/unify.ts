/** Assignability of types with type variables, whose bindings last for one check. */
import { type CelType, listType, mapType, metaType, optionalType, type ParameterType } from '../types.ts';
import { typeType } from './format.ts';

/** A free type of one check: of an empty list's elements, or of a type parameter in one call. */
export class TypeVariable implements ParameterType {
  readonly kind = 'parameter';
  readonly name: string;
  bound: CelType | undefined;

  constructor(name: string) {
    this.name = name;
  }
}

/** The types of an expression exceed what a check may take in steps or depth. */
export class TypeComplexityError extends Error {}

/** A type that repeats itself through its variables doubles with each level: steps and depth are limited. */
const maxSteps = 1_000_000;
const maxDepth = 500;

export class Unifier {
  #variables = 0;
  #steps = 0;
  /** The bindings of the assignment under way, to be undone when it fails. */
  readonly #trail: { readonly variable: TypeVariable; readonly before: CelType | undefined }[] = [];

  variable(): TypeVariable {
    return new TypeVariable(`_var${this.#variables++}`);
  }

  /** Whether a value of one type may be used as the other. Binds variables only when it may. */
  assignable(from: CelType, to: CelType): boolean {
    return this.#keep(this.#unify(from, to, 0));
  }

  /** Whether that holds for all in order. */
  assignableAll(from: readonly CelType[], to: readonly CelType[]): boolean {
    if (from.length !== to.length) return false;
    for (let i = 0; i < from.length; i++) {
      if (!this.#unify(from[i] as CelType, to[i] as CelType, 0)) return this.#keep(false);
    }
    return this.#keep(true);
  }

  /** Returns the more general of two types, one of which is assignable to the other. */
  mostGeneral(first: CelType, second: CelType): CelType {
    return this.#coversOrEquals(first, second, 0) ? first : second;
  }

  /** The type with its variables replaced by what they are bound to, and with `free` for those that are not bound. */
  substitute(type: CelType, free?: CelType): CelType {
    return this.#substitute(type, free, 0);
  }

  /** The type with the parameters of a signature replaced by the variables of one call. */
  instantiate(type: CelType, variables: Map<string, TypeVariable>): CelType {
    if (type.kind !== 'parameter') return mapInner(type, (inner) => this.instantiate(inner, variables));
    let variable = variables.get(type.name);
    if (variable === undefined) {
      variable = this.variable();
      variables.set(type.name, variable);
    }
    return variable;
  }

  #keep(succeeded: boolean): boolean {
    if (!succeeded) {
      for (let i = this.#trail.length - 1; i >= 0; i--) {
        const entry = this.#trail[i];
        if (entry !== undefined) entry.variable.bound = entry.before;
      }
    }
    this.#trail.length = 0;
    return succeeded;
  }

  #step(depth: number): void {
    if (depth > maxDepth || ++this.#steps > maxSteps) throw new TypeComplexityError();
  }

  #unify(from: CelType, to: CelType, depth: number): boolean {
    if (from === to) return true;
    this.#step(depth);
    if (to.kind === 'parameter') {
      const outcome = this.#bind(to as TypeVariable, from, depth);
      if (outcome !== 'recursive') return outcome === 'bound';
    }
    if (from.kind === 'parameter') return this.#bind(from as TypeVariable, to, depth) === 'bound';
    if (from.kind === 'dyn' || to.kind === 'dyn') return true;
    if (from.kind === 'null' || to.kind === 'null') return nullable(from) && nullable(to);
    const plain = from.kind === 'nullable' ? from.of : from;
    const target = to.kind === 'nullable' ? to.of : to;
    if (plain.kind !== target.kind) return false;
    switch (plain.kind) {
      case 'list':
        return target.kind === 'list' && this.#unify(plain.element, target.element, depth + 1);
      case 'map':
        return (
          target.kind === 'map' &&
          this.#unify(plain.key, target.key, depth + 1) &&
          this.#unify(plain.value, target.value, depth + 1)
        );
      case 'optional':
        return target.kind === 'optional' && this.#unify(plain.value, target.value, depth + 1);
      case 'object':
      case 'opaque':
        return plain.name === (target as typeof plain).name;
      default:
        return true;
    }
  }

  /** `taken`: bound to a type that does not agree; `recursive`: the type contains the variable. */
  #bind(variable: TypeVariable, type: CelType, depth: number): 'bound' | 'conflict' | 'recursive' {
    const bound = variable.bound;
    if (bound === undefined) {
      if (this.#occurs(variable, type, depth)) return 'recursive';
      this.#set(variable, type);
      return 'bound';
    }
    if (this.#equal(type, bound, depth)) return 'bound';
    if (!this.#unify(type, bound, depth + 1)) return 'conflict';
    const general = this.mostGeneral(type, bound);
    if (general !== bound && !this.#occurs(variable, general, depth)) this.#set(variable, general);
    return 'bound';
  }

  #set(variable: TypeVariable, type: CelType): void {
    this.#trail.push({ variable, before: variable.bound });
    variable.bound = type;
  }

  #occurs(variable: TypeVariable, type: CelType, depth: number): boolean {
    this.#step(depth);
    if (type === variable) return true;
    switch (type.kind) {
      case 'parameter': {
        const bound = (type as TypeVariable).bound;
        return bound !== undefined && this.#occurs(variable, bound, depth + 1);
      }
      case 'list':
        return this.#occurs(variable, type.element, depth + 1);
      case 'map':
        return this.#occurs(variable, type.key, depth + 1) || this.#occurs(variable, type.value, depth + 1);
      case 'optional':
        return this.#occurs(variable, type.value, depth + 1);
      case 'type':
        return type !== typeType && this.#occurs(variable, type.of, depth + 1);
      default:
        return false;
    }
  }

  /** The same type, variables by identity. */
  equal(first: CelType, second: CelType): boolean {
    return this.#equal(first, second, 0);
  }

  #equal(first: CelType, second: CelType, depth: number): boolean {
    if (first === second) return true;
    this.#step(depth);
    const a = first.kind === 'nullable' ? first.of : first;
    const b = second.kind === 'nullable' ? second.of : second;
    switch (a.kind) {
      case 'list':
        return b.kind === 'list' && this.#equal(a.element, b.element, depth + 1);
      case 'map':
        return b.kind === 'map' && this.#equal(a.key, b.key, depth + 1) && this.#equal(a.value, b.value, depth + 1);
      case 'optional':
        return b.kind === 'optional' && this.#equal(a.value, b.value, depth + 1);
      case 'type':
        return b.kind === 'type' && a !== typeType && b !== typeType && this.#equal(a.of, b.of, depth + 1);
      case 'object':
      case 'opaque':
        return a.kind === b.kind && a.name === b.name;
      case 'parameter':
        return false;
      default:
        return a.kind === b.kind;
    }
  }

  #coversOrEquals(general: CelType, special: CelType, depth: number): boolean {
    this.#step(depth);
    if (general.kind === 'dyn' || general.kind === 'parameter') return true;
    if (special.kind === 'dyn' || special.kind === 'parameter') return false;
    switch (general.kind) {
      case 'list':
        return special.kind === 'list' && this.#coversOrEquals(general.element, special.element, depth + 1);
      case 'map':
        return (
          special.kind === 'map' &&
          this.#coversOrEquals(general.key, special.key, depth + 1) &&
          this.#coversOrEquals(general.value, special.value, depth + 1)
        );
      case 'optional':
        return special.kind === 'optional' && this.#coversOrEquals(general.value, special.value, depth + 1);
      case 'type':
        return special.kind === 'type';
      default:
        return this.#equal(general, special, depth);
    }
  }

  #substitute(type: CelType, free: CelType | undefined, depth: number): CelType {
    if (type.kind === 'parameter') {
      this.#step(depth);
      const bound = (type as TypeVariable).bound;
      return bound === undefined ? (free ?? type) : this.#substitute(bound, free, depth + 1);
    }
    return mapInner(type, (inner) => {
      this.#step(depth);
      return this.#substitute(inner, free, depth + 1);
    });
  }
}

/** The type with its inner types replaced; the same object when none changes. */
function mapInner(type: CelType, replace: (inner: CelType) => CelType): CelType {
  switch (type.kind) {
    case 'list': {
      const element = replace(type.element);
      return element === type.element ? type : listType(element, type.maxSize);
    }
    case 'map': {
      const key = replace(type.key);
      const value = replace(type.value);
      return key === type.key && value === type.value ? type : mapType(key, value, type.maxSize);
    }
    case 'optional': {
      const value = replace(type.value);
      return value === type.value ? type : optionalType(value);
    }
    case 'type': {
      if (type === typeType) return type;
      const of = replace(type.of);
      return of === type.of ? type : metaType(of);
    }
    default:
      return type;
  }
}

/** Whether null is assignable to the type. */
function nullable(type: CelType): boolean {
  switch (type.kind) {
    case 'null':
    case 'nullable':
    case 'object':
    case 'opaque':
    case 'optional':
    case 'duration':
    case 'timestamp':
      return true;
    default:
      return false;
  }
}

/** Whether a signature has type parameters. */
export function hasParameters(type: CelType): boolean {
  let found = type.kind === 'parameter';
  if (!found) {
    mapInner(type, (inner) => {
      found ||= hasParameters(inner);
      return inner;
    });
  }
  return found;
}

/** Whether a parameter may accept values of both types, so that overloads of a function collide. */
export function overlap(first: CelType, second: CelType): boolean {
  if (first.kind === 'parameter' || second.kind === 'parameter') return true;
  if (first.kind === 'dyn' || second.kind === 'dyn') return true;
  if (first.kind === 'list' && second.kind === 'list') return overlap(first.element, second.element);
  if (first.kind === 'optional' && second.kind === 'optional') return overlap(first.value, second.value);
  if (first.kind === 'map' && second.kind === 'map') {
    return overlap(first.key, second.key) && overlap(first.value, second.value);
  }
  const a = first.kind === 'nullable' ? first.of : first;
  const b = second.kind === 'nullable' ? second.of : second;
  if (a.kind !== b.kind) return false;
  return !('name' in a) || a.name === (b as typeof a).name;
}
