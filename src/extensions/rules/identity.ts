import { emptyStructural, type Structural } from '../structural.ts';

const text: Structural = { ...emptyStructural, type: 'string', schema: { type: 'string' } };
const metadata: Structural = {
  ...emptyStructural,
  type: 'object',
  properties: new Map([
    ['name', text],
    ['generateName', text],
  ]),
  schema: { type: 'object' },
};

const completed = new WeakMap<Structural, Structural>();

/**
 * The schema of a resource with what expressions can read of every resource: `apiVersion`, `kind`, `metadata.name` and
 * `metadata.generateName`.
 */
export function withIdentity(structural: Structural): Structural {
  if (declaresIdentity(structural)) return structural;
  let known = completed.get(structural);
  if (known === undefined) {
    const properties = new Map([
      ...structural.properties,
      ['kind', text],
      ['apiVersion', text],
      ['metadata', metadata],
    ]);
    known = { ...structural, properties };
    completed.set(structural, known);
  }
  return known;
}

function declaresIdentity({ properties }: Structural): boolean {
  const ofMetadata = properties.get('metadata');
  const texts = ['kind', 'apiVersion'].map((name) => properties.get(name));
  texts.push(ofMetadata?.properties.get('name'), ofMetadata?.properties.get('generateName'));
  return ofMetadata?.type === 'object' && texts.every((part) => part?.type === 'string');
}
