// Which texts hold secrets, and which only look like it.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { redact, redactArgv, redactBytes, redactDeep } from '../../src/redact.js';

// Put together at run time: scanners of repositories look for such keys too, and these are none.
const made = (...parts: string[]) => parts.join('');
const LETTERS = 'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY'.repeat(4);

test.each<[string, string, number]>([
  ['a GitHub token', `git clone ${made('gh', 'p_', LETTERS.slice(0, 36))} x`, 1],
  ['a fine-grained GitHub token', made('github', '_pat_', LETTERS.slice(0, 60)), 1],
  ['a GitLab token', made('glp', 'at-', LETTERS.slice(0, 20)), 1],
  ['an OpenAI key', made('sk', '-proj-', LETTERS.slice(0, 40)), 1],
  ['an Anthropic key', made('sk', '-ant-api03-', LETTERS.slice(0, 90)), 1],
  ['an AWS key id', made('AK', 'IA', 'ABCDEFGHIJ234567'), 1],
  ['a Google key', made('AI', 'za', LETTERS.slice(0, 35)), 1],
  ['a Slack token', made('xo', 'xb-123456789012-', LETTERS.slice(0, 24)), 1],
  ['a Stripe key', made('sk', '_live_', LETTERS.slice(0, 24)), 1],
  ['an npm token', made('np', 'm_', LETTERS.slice(0, 36)), 1],
  ['a SendGrid key', made('SG', '.', LETTERS.slice(0, 22), '.', LETTERS.slice(0, 43)), 1],
  [
    'a JWT',
    made('ey', 'J', LETTERS.slice(0, 20), '.ey', 'J', LETTERS.slice(0, 30), '.', LETTERS.slice(0, 43)),
    1,
  ],
  [
    'a private key',
    made('-----BEGIN RSA PRIVATE', ' KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE', ' KEY-----'),
    1,
  ],
  ['a password in a URL', 'psql postgres://bob:s3cret@db.example/x', 1],
  ['curl -u', 'curl -u bob:s3cret https://example.org', 1],
  ['a bearer header', "curl -H 'Authorization: Bearer s3cret-value' x", 1],
  ['a basic header in JSON', '{"Authorization":"Basic czNjcmV0"}', 1],
  ['an API key header', 'curl -H "X-Api-Key: s3cret" x', 1],
  ['--password x', 'mysql --password s3cret -h db', 1],
  ['--password=x', 'mysql --password=s3cret', 1],
  ['--db-password "a b"', 'tool --db-password "a s3cret b" x', 1],
  ['--api-key x', 'tool --api-key s3cret', 1],
  ['an assignment of KEY', 'API_KEY=s3cret make', 1],
  ['an assignment of TOKEN', 'export NPM_TOKEN=s3cret', 1],
  ['an assignment of SECRET', "CLIENT_SECRET='s3 cret'", 1],
  ['an assignment of PASSWORD', 'PGPASSWORD="s3cret" psql', 1],
  ['a camel-case JSON key', '{"accessToken":"s3cret"}', 1],
  ['a YAML password', 'password: s3cret', 1],
  ['a hash as a promised token', `GITHUB_TOKEN=${'0a1b'.repeat(10)}`, 1],
  ['two of them', 'A_TOKEN=s3cret B_TOKEN=s4cret run', 2],
  ['a coloured assignment', '\x1b[31mPASSWORD=s3cret\x1b[0m', 1],
  ['a name and a value of different colours', '\x1b[32mAPI_KEY\x1b[0m=\x1b[33ms3cret-xx\x1b[0m', 1],
  ['a bold header', '\x1b[1mAuthorization:\x1b[0m Bearer s3cret-value', 1],
  ['a coloured token', `\x1b[1;34m${made('gh', 'p_', LETTERS.slice(0, 36))}\x1b[0m`, 1],
  [
    'a token with a colour in it',
    `${made('gh', 'p_', LETTERS.slice(0, 12))}\x1b[31m${LETTERS.slice(12, 36)}`,
    1,
  ],
  ['a line end in a command', 'printf "\\nPASSWORD=s3cret"', 1],
  ['a colour in a command', 'printf "\\e[31mPASSWORD=s3cret\\033[0m"', 1],
  ['a JSON text in JSON', '{"body":"{\\"api_key\\": \\"s3cret\\"}"}', 1],
  ['an empty assignment before another', 'GITHUB_TOKEN=\n  "api_key" : "s3cret",\n', 1],
  ['an open quote', 'PASSWORD="s3cret', 1],
  ['sshpass', 'sshpass -p s3cret ssh host', 1],
  ['docker login', 'docker login -u bob -p s3cret registry', 1],
  ['mysql -px', 'mysql -u bob -ps3cret db', 1],
  ['redis-cli -a', 'redis-cli -h x -a s3cret ping', 1],
  ['MYSQL_PWD', 'MYSQL_PWD=s3cret mysql', 1],
  ['PASS', 'PASS=s3cret ./x', 1],
  ['an arrow', "DB_PASSWORD => 's3cret'", 1],
  ['XML', '<password>s3cret</password>', 1],
  ['fish', 'set -gx API_KEY s3cret', 1],
  ['a bare bearer', 'Bearer s3cret-0123456789', 1],
  ['coloured words', '\x1b[1mok\x1b[0m 3 \x1b[32mpassed\x1b[0m in C:\\new\\tokens', 0],
  ['the working directory', 'PWD=/home/user OLDPWD=/tmp', 0],
  ['mysql that asks', 'mysql -p db', 0],
  ['a reference', 'curl -H "Authorization: Bearer $TOKEN" --password "$PW" KEY=$KEY', 0],
  ['a hash of ours', `"cache_key":"sha256:${'0a1b'.repeat(16)}"`, 0],
  ['a git id', `git show ${'0a1b'.repeat(10)}`, 0],
  ['a git id behind a name', `object_key=${'0a1b'.repeat(10)}`, 0],
  ['words that end in key', 'monkey: banana, hotkey=ctrl, key=Enter', 0],
  ['counts', 'tokens: 1234, max_token=4096, "input_tokens":12', 0],
  ['an option without a value', 'tool --password -v', 0],
  ['a plain URL', 'https://example.org:8080/a?b=c', 0],
  ['ssh', 'git clone git@example.org:a/b.git', 0],
  ['an image by tag', 'docker run redis:7', 0],
  ['a monotone life', 'openscad -o out.png rover.scad', 0],
])('%s', (_name, text, count) => {
  const done = redact(text);
  expect([done.text, done.count]).toEqual([count === 0 ? text : done.text, count]);
  expect(done.text).not.toMatch(/s[34] ?cret/);
  expect(done.text).not.toContain(LETTERS.slice(8, 18));
  if (count > 0) expect(done.text).toContain('***');
  // Once masked, there is nothing more to mask.
  expect(redact(done.text).count).toBe(0);
  const bytes = redactBytes(Buffer.from(text));
  expect([bytes.count, bytes.bytes.length]).toEqual([count, Buffer.byteLength(text)]);
});

test.each<[string[], string[]]>([
  [
    ['mysql', '--password', "it's a secret", '-v'],
    ['mysql', '--password', '***', '-v'],
  ],
  [
    ['x', 'API_KEY=abcd', 'plain'],
    ['x', 'API_KEY=***', 'plain'],
  ],
  [
    ['curl', '-u', 'bob:abcd', 'https://a:abcd@b'],
    ['curl', '-u', 'bob:***', 'https://a:***@b'],
  ],
  [
    ['curl', '-H', 'Authorization: Bearer abcd'],
    ['curl', '-H', 'Authorization: Bearer ***'],
  ],
  [
    ['sh', '-c', 'echo "$TOKEN"', '', 'a\nb', '--password'],
    ['sh', '-c', 'echo "$TOKEN"', '', 'a\nb', '--password'],
  ],
])('argv %j', (argv, masked) => {
  expect(redactArgv(argv).argv).toEqual(masked);
});

test('objects: texts, argv lists, and what stands under a name that promises a secret', () => {
  const { value, count } = redactDeep({
    argv: ['x', '--token', 'abcd'],
    env: { API_KEY: 'abcd', HOME: '/root' },
    facts: { tokens: 3, note: 'password=abcd' },
    cache_key: `sha256:${'ab'.repeat(32)}`,
  });
  expect(value).toEqual({
    argv: ['x', '--token', '***'],
    env: { API_KEY: '***', HOME: '/root' },
    facts: { tokens: 3, note: 'password=***' },
    cache_key: `sha256:${'ab'.repeat(32)}`,
  });
  expect(count).toBe(3);
});

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });

test('hashes and git ids stay, wherever they stand in a record of ours', () => {
  fc.assert(
    fc.property(hex(64), hex(40), (hash, id) => {
      for (const text of [
        `sha256:${hash}`,
        JSON.stringify({
          trajectory_sha256: `sha256:${hash}`,
          cache_key: `sha256:${hash}`,
          head: id,
          snapshot: id,
        }),
        `commit ${id}`,
        `${hash}  file.txt`,
        `[main ${id.slice(0, 7)}] Subject`,
      ])
        expect(redact(text)).toEqual({ text, count: 0 });
    }),
  );
});

test('bytes that hold no secret are the very same, and masked ones keep all others', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 200 }), (before, after) => {
      const secret = Buffer.from(made('gh', 'p_', LETTERS.slice(0, 36)));
      const whole = Buffer.concat([before, Buffer.from(' '), secret, Buffer.from(' '), after]);
      const { bytes } = redactBytes(whole);
      expect(bytes.length).toBe(whole.length);
      expect(bytes.includes(secret)).toBe(false);
      expect(
        bytes.subarray(bytes.length - after.length).equals(Buffer.from(after)) ||
          redactBytes(Buffer.from(after)).count > 0,
      ).toBe(true);
      const plain = Buffer.from([0, 255, 10, ...before.filter((byte) => byte < 32)]);
      expect(redactBytes(plain).bytes).toBe(plain);
    }),
  );
});
