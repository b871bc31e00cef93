import { statusError, type User } from '../meta/index.ts';

/** Whether a text that was read from a file has a NUL, or stands for bytes that are not UTF-8: it names nobody for sure. */
export const isUnreadable = (text: string): boolean => /[\0\uFFFD]/.test(text);
export const notText = 'has a NUL or bytes that are not UTF-8: save the file as UTF-8';

export interface TokenUser {
  readonly token: string;
  readonly user: User;
}

/**
 * Parses a static token file: lines `token,user,uid`, and groups in further columns, of which each may have several:
 * `token,user,uid,"group1,group2"`. In CSV (RFC 4180); blank lines and white space before a field are ignored. Throws a 400 StatusError that names the line, never a token.
 */
export function parseTokenFile(text: string): TokenUser[] {
  const lineOf = new Map<string, number>();
  return readCsv(text).map(({ line, fields }) => {
    if (fields.some(isUnreadable)) throw wrong(line, notText);
    const [token = '', name = '', uid = '', ...groups] = fields;
    if (fields.length < 3) throw wrong(line, `has ${fields.length} of at least 3 columns (token, user, uid)`);
    if (token === '') throw wrong(line, 'has an empty token');
    if (name === '') throw wrong(line, 'has an empty user name');
    const earlier = lineOf.get(token);
    if (earlier !== undefined) throw wrong(line, `repeats the token of line ${earlier}`);
    lineOf.set(token, line);
    const names = groups.flatMap((column) => column.split(',')).map((group) => group.trim());
    return { token, user: { name, ...(uid === '' ? {} : { uid }), groups: names.filter((group) => group !== '') } };
  });
}

const wrong = (line: number, problem: string) => statusError.badRequest(`line ${line} ${problem}`);

interface Row {
  readonly line: number;
  readonly fields: string[];
}

/** A field, quoted (with `""` for a quote) or not, and its delimiter. Unambiguous, so that it never backtracks. */
const field = /[ \t]*(?:"((?:[^"]|"")*)"[ \t]*|([^", \t\r\n][^",\r\n]*)?)(,|\r?\n|$)/y;

function readCsv(text: string): Row[] {
  const rows: Row[] = [];
  let line = 1;
  let row: Row = { line, fields: [] };
  field.lastIndex = text.startsWith('\uFEFF') ? 1 : 0;
  for (;;) {
    const match = field.exec(text);
    if (match === null) throw wrong(line, 'has a quote that is not closed or stands inside a field');
    const [whole, quoted, plain = '', end] = match;
    row.fields.push(quoted === undefined ? plain.trimEnd() : quoted.replaceAll('""', '"'));
    line += whole.split('\n').length - 1;
    if (end === ',') continue;
    if (row.fields.length > 1 || row.fields[0] !== '') rows.push(row);
    if (end === '') return rows;
    row = { line, fields: [] };
  }
}
