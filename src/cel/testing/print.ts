import type { Expr, LiteralValue } from '../ast.ts';

/** A tree in one line: calls as `name(args)`, comprehensions as `fold(macro, variables, range, accumulator = …)`. */
export function printTree(expr: Expr): string {
  switch (expr.kind) {
    case 'literal':
      return printLiteral(expr.value);
    case 'identifier':
      return expr.name;
    case 'select':
      return `${printTree(expr.operand)}.${expr.field}${expr.test ? '~test-only~' : ''}`;
    case 'call': {
      const args = expr.args.map(printTree).join(', ');
      return `${expr.target === undefined ? '' : `${printTree(expr.target)}.`}${expr.function}(${args})`;
    }
    case 'list': {
      const elements = expr.elements.map((element, index) => `${mark(expr.optional.has(index))}${printTree(element)}`);
      return `[${elements.join(', ')}]`;
    }
    case 'map': {
      const entries = expr.entries.map(
        ({ key, value, optional }) => `${mark(optional)}${printTree(key)}: ${printTree(value)}`,
      );
      return `{${entries.join(', ')}}`;
    }
    case 'object': {
      const entries = expr.entries.map(
        ({ field, value, optional }) => `${mark(optional)}${field}: ${printTree(value)}`,
      );
      return `${expr.name}{${entries.join(', ')}}`;
    }
    case 'comprehension': {
      const { macro, variable, second, range, accumulator, initial, condition, step, result } = expr;
      const variables = second === undefined ? variable : `${variable}, ${second}`;
      const parts = [`${variables} in ${printTree(range)}`, `${accumulator} = ${printTree(initial)}`];
      const steps = [`while ${printTree(condition)}`, `next ${printTree(step)}`, `result ${printTree(result)}`];
      return `${macro}!(${[...parts, ...steps].join('; ')})`;
    }
  }
}

const mark = (optional: boolean): string => (optional ? '?' : '');

function printLiteral(literal: LiteralValue): string {
  switch (literal.type) {
    case 'null':
      return 'null';
    case 'string':
      return JSON.stringify(literal.value);
    case 'bytes':
      return `b${JSON.stringify(Buffer.from(literal.value).toString('latin1'))}`;
    case 'uint':
      return `${literal.value}u`;
    case 'double':
      return Object.is(literal.value, -0) ? '-0' : String(literal.value);
    default:
      return String(literal.value);
  }
}
