import type { Pod } from '../../types/core-v1.ts';
import type { ObjectOf } from '../shared/define.ts';

export type PodObject = ObjectOf<typeof Pod>;
