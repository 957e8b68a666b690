// Lines of mistakes in a scene, and what a dropped file is.
import assert from 'node:assert/strict';
import test from 'node:test';
import { kindOf, meshScene, sceneName } from '../src/files.js';
import { excerpt, lineOf, offsetOfPointer } from '../src/json_place.js';

const TEXT = `{
  "rattleback": 1, "title": "a \\"quoted\\" {brace",
  "world": {"gravity": [0, 0,
    -9.8]},
  "bodies": [
    {"name": "a/b", "mass": 1},
    {"name": "c",
      "mass": -1, "a/b": {"~": true}}
  ]
}`;

test('a pointer finds the line of its value, through strings, arrays and escapes', () => {
    const lineAt = (pointer) => lineOf(TEXT, offsetOfPointer(TEXT, pointer)).line;
    assert.equal(lineAt('/title'), 2);
    assert.equal(lineAt('/world/gravity'), 3);
    assert.equal(lineAt('/world/gravity/2'), 4);
    assert.equal(lineAt('/bodies/0/mass'), 6);
    assert.equal(lineAt('/bodies/1/mass'), 8);
    assert.equal(lineAt('/bodies/1/a~1b/~0'), 8);
    // what is missing is shown where its parent is
    assert.equal(lineAt('/bodies/1/shapes/0'), 7);
    assert.equal(offsetOfPointer(TEXT, ''), -1);
});

test('broken texts end the search, and any text ends', () => {
    for (let end = 0; end <= TEXT.length; end++) {
        const offset = offsetOfPointer(TEXT.slice(0, end), '/bodies/1/mass');
        assert.ok(offset >= -1 && offset <= end);
    }
    assert.equal(offsetOfPointer('nonsense', '/a'), -1);
    assert.equal(offsetOfPointer('{"a" "b" ]', '/c'), -1);
});

test('an excerpt has the lines about a line', () => {
    assert.deepEqual(excerpt('a\nb\nc\nd', 2, 1).map(({ number, isHere }) => [number, isHere]),
        [[1, false], [2, true], [3, false]]);
});

test('files are told by the end of their names, and get names that scenes may have', () => {
    assert.equal(kindOf('x.JSON'), 'scene');
    assert.equal(kindOf('part.stl'), 'mesh');
    assert.equal(kindOf('run.rbr'), 'recording');
    assert.equal(kindOf('README'), null);
    assert.equal(sceneName('C:\\a\\<b> c.json'), 'b-c');
    assert.equal(sceneName('...'), 'dropped');
    assert.equal(JSON.parse(meshScene('n', 'n.stl', false)).bodies[0].type, 'static');
});
