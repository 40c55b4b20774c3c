import type { BadFile } from './bad-file.ts';

/** Files that are no configuration in YAML or JSON. */
export const syntax: readonly BadFile[] = [
  {
    name: 'an empty file',
    text: '',
    mistakes: ['1:1: the file is empty, but must be a map with at least ServerGroups'],
  },
  {
    name: 'only comments',
    text: '# nothing\n',
    mistakes: ['1:1: the file is empty, but must be a map with at least ServerGroups'],
  },
  {
    name: 'only a document marker',
    text: '---\n',
    mistakes: ['1:4: the file is empty, but must be a map with at least ServerGroups'],
  },
  {
    name: 'a list at the top',
    text: '- Name: llama\n',
    mistakes: ['1:1: the file is a list, but must be a map with at least ServerGroups'],
  },
  {
    name: 'a text at the top',
    text: 'llama\n',
    mistakes: ['1:1: the file is "llama", but must be a map with at least ServerGroups'],
  },
  {
    name: 'a tab in the indentation',
    text: 'Xds:\n\tListen: 127.0.0.1:18000\n',
    mistakes: ['2:1: a tab in the indentation, but YAML is indented by spaces'],
  },
  {
    name: 'JSON pasted under a key, indented by tabs',
    text: 'ServerGroups:\n  - Name: llama\n    Servers: [\n\t{"Address": "10.0.3.11"},\n\t{"Address": "10.0.3.12"}\n\t]\n',
    mistakes: [
      '4:1: a tab in the indentation, but YAML is indented by spaces',
      '5:1: a tab in the indentation, but YAML is indented by spaces',
      '6:1: a tab in the indentation, but YAML is indented by spaces',
    ],
  },
  {
    name: 'JSON pasted under a key, not indented',
    text: 'ServerGroups: [\n{"Name": "llama"}\n]\n',
    mistakes: [
      '2:1: not valid YAML: a list that [ begins is not closed before here, or this line is indented no more than its key',
      '3:1: not valid YAML: a ] closes nothing',
    ],
  },
  {
    name: 'a key twice',
    text: 'Xds: {}\nAdmin: {}\nXds: {Listen: 1}\n',
    mistakes: ['3:1: Xds: the key is there twice, first in line 1'],
  },
  {
    name: 'a key twice in JSON',
    text: '{"Xds": {"DrainSeconds": 1, "DrainSeconds": 2}}',
    mistakes: ['1:29: Xds.DrainSeconds: the key is there twice, first in line 1'],
  },
  {
    name: 'several documents',
    text: 'Xds: {}\n---\nAdmin: {}\n',
    mistakes: ['2:1: a second YAML document, but a configuration is one document'],
  },
  {
    name: 'an alias without anchor',
    text: 'Xds: *nowhere\n',
    mistakes: ['1:6: Xds: the alias has no anchor before it; a value that begins with * needs quotes'],
  },
  {
    name: 'an alias inside itself',
    text: 'Xds: &x {Listen: *x}\n',
    mistakes: ['1:18: Xds.Listen: the alias contains itself'],
  },
  {
    name: 'aliases that multiply',
    text: 'a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: [*e, *e]\n',
    mistakes: ['2:12: e[7][8][9][1]: aliases repeat more than 100000 values'],
  },
  {
    name: 'a merge key',
    text: 'Xds: {<<: {Listen: 127.0.0.1:18000}}\nServerGroups: [{Name: a, Servers: [{Address: 10.0.3.11, Port: 1}]}]\n',
    mistakes: [
      '1:7: Xds.<<: is an unknown key; merge keys are not supported, an alias can stand for a whole value',
    ],
  },
  {
    name: 'keys that are no text',
    text: '1: a\n? [b]\n: c\nnull: d\n',
    mistakes: ['1:1: a key must be a string', '2:3: a key must be a string', '4:1: a key must be a string'],
  },
  {
    name: 'a tag',
    text: 'Xds: !secret {}\n',
    mistakes: ['1:6: a tag is not supported; a value that begins with ! needs quotes'],
  },
  {
    name: 'a tag of YAML that is not in use',
    text: 'Xds: {Listen: !!binary aGk=}\n',
    mistakes: ['1:15: a tag is not supported; a value that begins with ! needs quotes'],
  },
  {
    name: 'an address in brackets without quotes',
    text: 'Xds:\n  Listen: [::1]:18000\n',
    mistakes: ['2:16: not valid YAML: Unexpected scalar at node end; an address in brackets needs quotes'],
  },
  {
    name: 'a quote that is not closed',
    text: 'Xds: {Listen: "127.0.0.1:18000}\n',
    mistakes: ['2:1: not valid YAML: a text in quotes is not closed'],
  },
  {
    name: 'a map inside a line',
    text: 'Xds: Listen: 127.0.0.1:18000\n',
    mistakes: ['1:6: not valid YAML: Nested mappings are not allowed in compact mappings'],
  },
  {
    name: 'indentation that fits nowhere',
    text: 'Xds:\n    Listen: 127.0.0.1:18000\n  DrainSeconds: 1\n',
    mistakes: ['3:1: not valid YAML: All mapping items must start at the same column'],
  },
  {
    name: 'syntax mistakes hide the rest',
    text: 'Admin: {Listen: localhost}\nXds: [\n',
    mistakes: [
      '3:1: not valid YAML: a list that [ begins is not closed before here, or this line is indented no more than its key',
    ],
  },
  {
    name: 'JSON with a list and a map that are not closed',
    text: '[{"targets": []}\n',
    mistakes: ['2:1: not valid YAML: a list that [ begins is not closed'],
  },
  {
    name: 'JSON without its last bracket',
    text: '{"Xds": {"Listen": "127.0.0.1:18000"}\n',
    mistakes: ['2:1: not valid YAML: a map that { begins is not closed'],
  },
  {
    name: 'JSON with a bracket too many',
    text: '{"Xds": {}}}\n',
    mistakes: ['1:12: not valid YAML: a } closes nothing'],
  },
  {
    name: 'JSON without a comma',
    text: '{"Xds": {} "Admin": {}}\n',
    mistakes: ['1:12: not valid YAML: a text in quotes where a comma or the end is expected'],
  },
  {
    name: 'JSON without a comma behind a text',
    text: '{"Name": "a" "Xds": {}}\n',
    mistakes: [
      '1:10: not valid YAML: between brackets a comma is missing, or a text with a colon needs quotes',
    ],
  },
  {
    name: 'nesting without end',
    text: '['.repeat(5000),
    mistakes: ['1:101: more than 100 levels of nesting'],
  },
  {
    name: 'nesting by dashes',
    text: '- '.repeat(5000),
    mistakes: ['1:200: more than 100 levels of nesting'],
  },
  {
    name: 'CRLF and a byte order mark',
    text: '\uFEFFXds:\r\n  Listen: here\r\nServerGroups: []\r\n',
    mistakes: [
      '2:11: Xds.Listen: is "here", but must be an IP literal and a port, like 127.0.0.1:18000 or "[::1]:18000": it is not of this form',
      '3:15: ServerGroups: is an empty list, but must be a list of at least one server group',
    ],
  },
];
