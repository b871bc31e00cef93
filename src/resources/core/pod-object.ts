import type { ObjectOf } from '../../schema/index.ts';
import type { Pod } from '../../types/core-v1.ts';

export type PodObject = ObjectOf<typeof Pod>;
