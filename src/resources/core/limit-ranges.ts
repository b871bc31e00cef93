import { resource } from '../define.ts';
import { LimitRange } from '../types/core-v1.ts';

export const limitRanges = resource({
  group: '',
  plural: 'limitranges',
  kind: 'LimitRange',
  schema: LimitRange,
  shortNames: ['limits'],
  strategy: { createOnUpdate: true },
});
