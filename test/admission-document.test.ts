import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { admissionConfigurationFormat, configurationFormats } from '../src/admission/index.ts';
import { parseYaml } from '../src/codec/index.ts';
import { namesFor } from '../src/meta/index.ts';
import { type ConfigurationFormat, decodeConfiguration } from '../src/schema/index.ts';

// The examples of docs/admission.md are valid, and there is one for each plugin with a configuration.

const page = readFileSync(new URL('../docs/admission.md', import.meta.url), 'utf8');
const [introduction = '', ...sections] = page.split(/^## /m);
const exampleIn = (section: string) => /```yaml\n(.*?)```/s.exec(section)?.[1] ?? '';
const examples = new Map(
  sections.flatMap((section) => {
    const [title = ''] = section.split('\n');
    return title.split(', ').map((name): [string, string] => [name, exampleIn(section)]);
  }),
);

const decode = (format: ConfigurationFormat, text: string) =>
  decodeConfiguration(format, parseYaml(Buffer.from(text)).value, namesFor('orch.io'));

it('has a valid file', () => {
  expect(decode(admissionConfigurationFormat, exampleIn(introduction))).toHaveProperty('value.plugins.length', 2);
});

it.each(Object.entries<ConfigurationFormat>(configurationFormats))(
  'has a valid configuration of %s',
  (name, format) => {
    expect(decode(format, examples.get(name) ?? '')).toHaveProperty('value');
  },
);
