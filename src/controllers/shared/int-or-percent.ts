/** The number, or the percentage of the total, rounded up or down. Invalid text counts as 0: validation refuses it. */
export function scaledValue(value: number | string | undefined, total: number, round: 'up' | 'down'): number {
  if (typeof value !== 'string') return value ?? 0;
  const [, percent] = /^([0-9]+)%$/.exec(value) ?? [];
  if (percent === undefined) return 0;
  return Math[round === 'up' ? 'ceil' : 'floor']((Number(percent) * total) / 100);
}
