import { readFileSync } from 'node:fs';

/** CPU time of all threads of a process (s); NaN where the system does not tell. @param {number} pid */
export function computedBy(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [user = 0, system = 0] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12).map(Number);
    return (user + system) / 100;
  } catch {
    return Number.NaN;
  }
}
