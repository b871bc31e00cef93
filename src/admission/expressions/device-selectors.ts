/** Checks the expressions that select devices. Schedulers evaluate them. */
import {
  anyType,
  baseLibraries,
  type CelType,
  checkInSteps,
  checkNewInSteps,
  createEnvironment,
  ExpressionError,
  estimateCost,
  expressionLibraries,
  type Library,
  mapType,
  quantityType,
  semverLibrary,
  stringType,
  typeName,
} from '../../cel/index.ts';
import { compatibleRelease, defaultFeatures, expressionTypes, type Release, type Steps } from '../../meta/index.ts';
import { objectType } from './values.ts';

const sized = <T extends CelType>(type: T, maxSize: number): T => ({ ...type, maxSize });

const driver = sized(stringType, 63);
const domain = sized(stringType, 63);
const identifier = sized(stringType, 32);
/** The attributes and capacities of a device, together. */
const maxProperties = 32;

/** Values of one type by domain and identifier. */
const byName = (value: CelType): CelType =>
  sized(mapType(domain, sized(mapType(identifier, value), maxProperties)), maxProperties);

const deviceType = objectType(`${expressionTypes}.DRADevice`, {
  driver,
  attributes: byName(anyType),
  capacity: byName(quantityType),
});

const bindings: Library = { name: 'bindings', syntax: { bindings: true }, functions: {} };

/** Device selectors have had versions and bindings from the beginning. */
const libraries = expressionLibraries([
  ...baseLibraries(defaultFeatures).filter(({ library }) => library !== semverLibrary),
  { library: semverLibrary, since: '1.0' },
  { library: bindings, since: '1.0' },
]);

const variables = [{ name: 'device', type: deviceType }];
const maxCost = 1_000_000;

/**
 * Returns the problem of a device selector, its possible cost included; undefined when it is valid. `compatible`: the
 * release in which it must be valid, unless it is stored already.
 */
export function* deviceSelectorFault(
  source: string,
  {
    isStored,
    compatible = compatibleRelease,
  }: { readonly isStored: boolean; readonly compatible?: Release | undefined },
): Steps<{ readonly invalid: string } | 'too complex' | undefined> {
  try {
    const checked = isStored
      ? yield* checkInSteps(createEnvironment({ variables, libraries: libraries.ofStored }), source)
      : yield* checkNewInSteps({ variables }, libraries, compatible, source);
    yield;
    const { type } = checked;
    if (type.kind !== 'bool' && type.kind !== 'dyn') {
      return { invalid: `must evaluate to bool or the unknown type, not ${typeName(type)}` };
    }
    return estimateCost(checked).max > maxCost ? 'too complex' : undefined;
  } catch (thrown) {
    if (!(thrown instanceof ExpressionError)) throw thrown;
    return { invalid: `compilation failed: ${thrown.message}` };
  }
}
