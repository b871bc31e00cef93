/** Parses templates of `-o go-template`: the actions, pipelines, variables and blocks of Go's package text/template. */
import type { Json } from '../../../meta/index.ts';
import { maxTemplate, TemplateError } from '../jsonpath/parse.ts';

export type TemplateNode =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'print'; readonly pipe: Pipe }
  | {
      readonly is: 'if' | 'with' | 'range';
      readonly pipe: Pipe;
      readonly body: readonly TemplateNode[];
      readonly otherwise: readonly TemplateNode[];
    };

/** Commands of which each has the value of the one before as its last argument. */
export interface Pipe {
  /** The variables that the value is assigned to. */
  readonly variables: readonly string[];
  readonly declares: boolean;
  readonly commands: readonly (readonly Term[])[];
}

export type Term =
  | { readonly is: 'value'; readonly value: Json }
  | { readonly is: 'field'; readonly variable: string | undefined; readonly path: readonly string[] }
  | { readonly is: 'function'; readonly name: string }
  | { readonly is: 'group'; readonly pipe: Pipe; readonly path: readonly string[] };

interface Block {
  readonly node: { is: 'if' | 'with' | 'range'; pipe: Pipe; body: TemplateNode[]; otherwise: TemplateNode[] };
  /** Where nodes are added: the body, or what follows `else`. */
  target: TemplateNode[];
  /** `else if` opens a block that ends with the one around it. */
  readonly chained: boolean;
}

/** @throws TemplateError */
export function parseTemplate(template: string, functions: ReadonlySet<string>): TemplateNode[] {
  if (template.length > maxTemplate) throw new TemplateError('the template is longer than 64 KiB');
  const root: TemplateNode[] = [];
  const blocks: Block[] = [];
  const target = () => blocks.at(-1)?.target ?? root;
  const open = (is: 'if' | 'with' | 'range', text: string, chained: boolean) => {
    const body: TemplateNode[] = [];
    const node = { is, pipe: new PipeReader(text, functions).pipe(), body, otherwise: [] };
    target().push(node);
    blocks.push({ node, target: body, chained });
  };
  for (const piece of piecesOf(template)) {
    if (typeof piece === 'string') {
      if (piece !== '') target().push({ is: 'text', text: piece });
      continue;
    }
    const [, word = '', rest = ''] = /^(\w*)\s*([\s\S]*)$/.exec(piece.action) ?? [];
    if (word === 'if' || word === 'with' || word === 'range') open(word, rest, false);
    else if (word === 'else') {
      const block = blocks.at(-1);
      if (block === undefined) throw new TemplateError('unexpected {{else}}');
      block.target = block.node.otherwise;
      const [, chain = '', condition = ''] = /^(if|with)\s+([\s\S]*)$/.exec(rest) ?? [];
      if (chain === 'if' || chain === 'with') open(chain, condition, true);
    } else if (word === 'end' && rest === '') {
      if (blocks.length === 0) throw new TemplateError('unexpected {{end}}');
      while (blocks.pop()?.chained === true);
    } else target().push({ is: 'print', pipe: new PipeReader(piece.action, functions).pipe() });
  }
  if (blocks.length > 0) throw new TemplateError('unexpected EOF');
  return root;
}

/** Texts and actions in turn; `{{-` and `-}}` trim the text next to them. */
function piecesOf(template: string): (string | { readonly action: string })[] {
  const pieces: (string | { readonly action: string })[] = [];
  let trims = false;
  const text = (piece: string, trimEnd: boolean) => {
    const start = trims ? piece.replace(/^\s+/, '') : piece;
    pieces.push(trimEnd ? start.replace(/\s+$/, '') : start);
  };
  let at = 0;
  for (;;) {
    const start = template.indexOf('{{', at);
    if (start < 0) break;
    const end = endOfAction(template, start + 2);
    const raw = template.slice(start + 2, end);
    text(template.slice(at, start), /^-\s/.test(raw));
    trims = /\s-$/.test(raw);
    const action = raw.replace(/^-\s/, '').replace(/\s-$/, '').trim();
    if (!/^\/\*[\s\S]*\*\/$/.test(action)) pieces.push({ action });
    at = end + 2;
  }
  text(template.slice(at), false);
  return pieces;
}

function endOfAction(template: string, start: number): number {
  const pattern = /"(?:[^"\\]|\\.)*"|`[^`]*`|\}\}/g;
  pattern.lastIndex = start;
  for (let match = pattern.exec(template); match !== null; match = pattern.exec(template)) {
    if (match[0] === '}}') return match.index;
  }
  throw new TemplateError('unclosed action');
}

const tokens = /\s*("(?:[^"\\]|\\.)*"|`[^`]*`|:=|[|(),=]|\$?\w*(?:\.\w+)+|\$\w*|\.|-?\d+(?:\.\d+)?|\w+)/y;

class PipeReader {
  readonly #tokens: string[] = [];
  readonly #functions: ReadonlySet<string>;
  #at = 0;

  constructor(text: string, functions: ReadonlySet<string>) {
    this.#functions = functions;
    tokens.lastIndex = 0;
    const source = text.trim();
    while (tokens.lastIndex < source.length) {
      const at = tokens.lastIndex;
      const match = tokens.exec(source);
      if (match === null) throw new TemplateError(`unexpected ${JSON.stringify(source.slice(at).trim())} in command`);
      this.#tokens.push(match[1] ?? '');
    }
  }

  pipe(): Pipe {
    const pipe = this.#pipe();
    if (this.#at < this.#tokens.length) throw new TemplateError(`unexpected ${this.#tokens[this.#at]} in command`);
    return pipe;
  }

  #pipe(): Pipe {
    const variables: string[] = [];
    const assignment = this.#tokens.slice(this.#at).findIndex((token) => token === ':=' || token === '=');
    const declares = this.#tokens[this.#at + assignment] === ':=';
    if (assignment >= 0) {
      for (const token of this.#tokens.slice(this.#at, this.#at + assignment)) if (token !== ',') variables.push(token);
      this.#at += assignment + 1;
    }
    const commands: Term[][] = [[]];
    for (let token = this.#tokens[this.#at]; token !== undefined && token !== ')'; token = this.#tokens[this.#at]) {
      this.#at++;
      if (token === '|') commands.push([]);
      else commands.at(-1)?.push(this.#term(token));
    }
    if (commands.some((terms) => terms.length === 0)) throw new TemplateError('missing value for command');
    return { variables, declares, commands };
  }

  #term(token: string): Term {
    if (token === '(') {
      const pipe = this.#pipe();
      if (this.#tokens[this.#at++] !== ')') throw new TemplateError('unclosed left paren');
      const next = this.#tokens[this.#at];
      if (next === undefined || !/^\.\w/.test(next)) return { is: 'group', pipe, path: [] };
      this.#at++;
      return { is: 'group', pipe, path: next.slice(1).split('.') };
    }
    if (token.startsWith('"')) return { is: 'value', value: JSON.parse(token) as string };
    if (token.startsWith('`')) return { is: 'value', value: token.slice(1, -1) };
    if (/^-?\d/.test(token)) return { is: 'value', value: Number(token) };
    if (token === 'true' || token === 'false') return { is: 'value', value: token === 'true' };
    if (token === 'nil') return { is: 'value', value: null };
    if (token.startsWith('$') || token.startsWith('.')) {
      const [variable = '', ...path] = token.split('.');
      return {
        is: 'field',
        variable: variable === '' ? undefined : variable,
        path: path.filter((name) => name !== ''),
      };
    }
    if (!this.#functions.has(token)) throw new TemplateError(`function ${JSON.stringify(token)} not defined`);
    return { is: 'function', name: token };
  }
}
