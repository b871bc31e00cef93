import { describe, expect, it } from 'vitest';
import { conflictsOf, play, type Story } from './story.ts';

/** Checks each story: what the object holds at its end, who owns what, and what the last write failed with. */
export function tell(title: string, stories: readonly Story[]): void {
  describe(title, () => {
    it.each(stories.map((story) => [story.name, story] as const))('%s', (_, story) => {
      const ending = play(story.steps);
      if (story.conflicts !== undefined) {
        expect(conflictsOf(ending.error)).toEqual(story.conflicts);
        expect(ending.error).toMatchObject({ code: 409, reason: 'Conflict' });
      } else if (story.error !== undefined) {
        expect(ending.error?.message).toMatch(story.error);
      } else if (ending.error !== undefined) throw ending.error;
      // Whatever happens, it is still that very object.
      if (ending.world.live !== undefined) expect(ending.world.live.metadata.name).toBe('t');
      if (story.object !== undefined) expect(ending.object).toEqual(story.object);
      if (story.owners !== undefined) expect(ending.owners).toEqual(story.owners);
    });
  });
}
