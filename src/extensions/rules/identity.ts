import { emptyStructural, type Structural } from '../structural.ts';

const text: Structural = { ...emptyStructural, type: 'string', schema: { type: 'string' } };
/** Maximum length of the name of an object (characters), which bounds the cost of rules about it. */
const maxName = 253;

/** Text of at most `most` characters, or of what the schema declares where that is less. */
function textUpTo(most: number, declared: Structural | undefined): Structural {
  const limit = declared?.schema['maxLength'];
  const maxLength = typeof limit === 'number' && limit < most ? limit : most;
  return { ...text, schema: { type: 'string', maxLength } };
}

const metadataOf = (declared: Structural | undefined): Structural => ({
  ...emptyStructural,
  type: 'object',
  properties: new Map([
    ['name', textUpTo(maxName, declared?.properties.get('name'))],
    // A suffix is appended to it.
    ['generateName', textUpTo(maxName - 1, declared?.properties.get('generateName'))],
  ]),
  schema: { type: 'object' },
});

const completed = new WeakMap<Structural, Structural>();

/**
 * The schema of a resource with what expressions can read of every resource: `apiVersion`, `kind`, `metadata.name` and
 * `metadata.generateName`.
 */
export function withIdentity(structural: Structural): Structural {
  if (declaresIdentity(structural)) return structural;
  let cached = completed.get(structural);
  if (cached === undefined) {
    const properties = new Map([
      ...structural.properties,
      ['kind', text],
      ['apiVersion', text],
      ['metadata', metadataOf(structural.properties.get('metadata'))],
    ]);
    cached = { ...structural, properties };
    completed.set(structural, cached);
  }
  return cached;
}

function declaresIdentity({ properties }: Structural): boolean {
  const ofMetadata = properties.get('metadata');
  const texts = ['kind', 'apiVersion'].map((name) => properties.get(name));
  texts.push(ofMetadata?.properties.get('name'), ofMetadata?.properties.get('generateName'));
  return ofMetadata?.type === 'object' && texts.every((part) => part?.type === 'string');
}
