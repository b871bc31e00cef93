/** Which resources a patch applies to. */
import { CelError, compileRegex, type Regex } from '../../cel/index.ts';
import { type Labels, parseLabelSelector, StatusError } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import type { Selector } from './format.ts';
import type { Identity, Resource } from './resource.ts';

/** A regular expression in RE2 syntax, matched in linear time. @throws CommandError that names the field */
export function regexOf(pattern: string, field: string): Regex {
  try {
    return compileRegex(pattern);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    throw new CommandError(`${field}: ${error.message}`, { cause: error });
  }
}

type Test = (resource: Resource) => boolean;

/** The resources that a selector of a patch matches, by their present or their original identity. @throws CommandError */
export function selectResources(resources: readonly Resource[], selector: Selector): Resource[] {
  const { group, version, kind, name, namespace, labelSelector, annotationSelector } = selector;
  const tests: Test[] = [
    matches('group', group, ({ identity }) => [identity.group]),
    matches('version', version, ({ identity }) => [identity.version]),
    matches('kind', kind, ({ identity }) => [identity.kind]),
    matches('name', name, ({ identity, original }) => [original.name, identity.name]),
    matches('namespace', namespace, ({ identity, original }) => [namespaceText(original), namespaceText(identity)]),
    hasPairs('labels', labelSelector),
    hasPairs('annotations', annotationSelector),
  ];
  return resources.filter((resource) => tests.every((test) => test(resource)));
}

/** Cluster-scoped objects have no namespace that an expression could match by accident. */
const namespaceText = ({ namespace }: Identity): string => namespace ?? '_non_namespaceable_';

function matches(field: string, pattern: string | undefined, textsOf: (resource: Resource) => string[]): Test {
  if (pattern === undefined || pattern === '') return () => true;
  const regex = regexOf(`^(?:${pattern})$`, `target.${field}`);
  return (resource) => textsOf(resource).some((text) => regex.test(text));
}

/** Whether the labels or annotations of a resource match a label selector. */
export function hasPairs(field: 'labels' | 'annotations', selector: string | undefined): Test {
  if (selector === undefined || selector === '') return () => true;
  try {
    const parsed = parseLabelSelector(selector);
    return (resource) => parsed.matches(resource.texts(field) as Labels);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw new CommandError(`${field === 'labels' ? 'labelSelector' : 'annotationSelector'}: ${error.message}`, {
      cause: error,
    });
  }
}
