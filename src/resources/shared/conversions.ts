import { type ApiObject, atOnce, type Names, type Steps } from '../../meta/index.ts';
import type { ResourceVersion } from '../../registry/index.ts';

export type Conversions = Pick<
  ResourceVersion,
  'toStorage' | 'fromStorage' | 'toStorageInSteps' | 'fromStorageInSteps'
>;

type Conversion = (object: ApiObject, names: Names) => Steps<ApiObject>;

/** The conversions of a version that runs them in steps. */
export const conversionsInSteps = (toStorage: Conversion, fromStorage: Conversion): Required<Conversions> => ({
  toStorage: (object, names) => atOnce(toStorage(object, names)),
  fromStorage: (object, names) => atOnce(fromStorage(object, names)),
  toStorageInSteps: toStorage,
  fromStorageInSteps: fromStorage,
});
