/** The size of regular expressions, found out before they are compiled. */

/** The size of a Unicode property such as `\pL`, which has hundreds of ranges (instructions). */
const PROPERTY = 300;
/** So many characters of a range take as long as an instruction where case does not count: each is looked up. */
const FOLDED = 50;
/** The characters that have another case are at most these. */
const [firstFolded, lastFolded] = [0x41, 0x1e943];

/** About the time and memory that a pattern takes when it is compiled, in instructions, in linear time. */
export const sizeOfProgram = (pattern: string): number => writtenOut(pattern) + sizeOfClasses(pattern);

/** The size of the classes of a pattern, counted once however often they are repeated. */
function sizeOfClasses(pattern: string): number {
  const properties = PROPERTY * (pattern.match(/\\[pP]/g)?.length ?? 0);
  if (!/\(\?[A-Za-z-]*i/.test(pattern)) return properties;
  let folded = 0;
  for (const [, first = '', last = ''] of pattern.matchAll(range)) {
    const [from, to] = [codeOf(first), codeOf(last)];
    if (from > firstFolded || to < lastFolded) folded += Math.max(0, Math.min(to, lastFolded) - from);
  }
  return properties + Math.ceil(folded / FOLDED);
}

const range =
  /(\\x\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{2}|\\[0-7]{1,3}|\\?.)-(\\x\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{2}|\\[0-7]{1,3}|\\?.)/gsu;

/** The code of a character of a range, which may be escaped. */
function codeOf(text: string): number {
  const [, hex] = /^\\x\{?([0-9A-Fa-f]+)/.exec(text) ?? [];
  if (hex !== undefined) return Number.parseInt(hex, 16);
  if (/^\\[0-7]/.test(text)) return Number.parseInt(text.slice(1), 8);
  return text.codePointAt(text.length > 1 && text.startsWith('\\') ? 1 : 0) ?? 0;
}

const repetition = /^\{(\d{1,5})(?:,(\d{0,5}))?\}/;

/**
 * At least about the number of instructions of a pattern: its length with counted repetitions written out, so that a
 * pattern can be refused before it is compiled.
 */
function writtenOut(pattern: string): number {
  if (!pattern.includes('{')) return pattern.length;
  const outer: number[] = [];
  let total = 0;
  let last = 0;
  for (let i = 0; i < pattern.length; ) {
    const character = pattern[i];
    const [repeated = '', least = '', most = ''] =
      (character === '{' && repetition.exec(pattern.slice(i, i + 14))) || [];
    if (repeated !== '') {
      const written = last * Math.max(Number(least), Number(most), 1);
      total += written - last;
      last = written;
      i += repeated.length;
      continue;
    }
    if (character === '(') {
      outer.push(total);
      total = 0;
      last = 1;
    } else if (character === ')') {
      last = total + 2;
      total = (outer.pop() ?? 0) + last;
    } else {
      last = 1;
      total += 1;
    }
    i = endOfUnit(pattern, i);
  }
  return outer.reduce((sum, part) => sum + part, total);
}

/** The index after the character, escape or character class at an index; a quoted text counts as one. */
export function endOfUnit(pattern: string, start: number): number {
  if (pattern.startsWith('\\Q', start)) {
    const end = pattern.indexOf('\\E', start + 2);
    return end < 0 ? pattern.length : end + 2;
  }
  if (pattern[start] === '[') return endOfClass(pattern, start);
  return start + (pattern[start] === '\\' ? 2 : 1);
}

/** The index after the character class at an index. */
function endOfClass(pattern: string, start: number): number {
  let i = start + (pattern[start + 1] === '^' ? 2 : 1);
  if (pattern[i] === ']') i++;
  while (i < pattern.length && pattern[i] !== ']') {
    const classEnd = pattern.startsWith('[:', i) ? pattern.indexOf(':]', i + 2) : -1;
    i = classEnd > 0 ? classEnd + 2 : pattern[i] === '\\' ? i + 2 : i + 1;
  }
  return i + 1;
}
