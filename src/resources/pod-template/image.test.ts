import { describe, expect, test } from 'vitest';
import { defaultPullPolicy, imageTag } from './image.ts';

const digest = `sha256:${'0'.repeat(64)}`;

describe('image tags', () => {
  test.each([
    ['nginx', 'latest'],
    ['nginx:latest', 'latest'],
    ['nginx:1.25', '1.25'],
    ['host:5000/nginx', 'latest'],
    ['host:5000/a/nginx:v1', 'v1'],
    ['Host.example/nginx', 'latest'],
    [`nginx@${digest}`, ''],
    [`nginx:latest@${digest}`, 'latest'],
    ['', ''],
    ['UPPER', ''],
    ['nginx:', ''],
    ['a//b', ''],
    ['a_-b', ''],
    ['0'.repeat(64), ''],
  ])('%s', (image, tag) => {
    expect(imageTag(image)).toBe(tag);
  });

  test('the pull policy of latest defaults to Always', () => {
    expect(defaultPullPolicy('nginx')).toBe('Always');
    expect(defaultPullPolicy(`nginx@${digest}`)).toBe('IfNotPresent');
    expect(defaultPullPolicy(undefined)).toBe('IfNotPresent');
  });
});
