package fileio

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func write(t *testing.T, path, text string) {
	out, err := Create(path)
	require.NoError(t, err)
	_, err = out.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, out.Commit())
}

func requireText(t *testing.T, path, want string) {
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(got), path)
}

// C/D is a link to A/B, so C/D/y is a link to A/z. Joining the texts would give C/z.
func TestLinksAreResolvedAsTheSystemDoes(t *testing.T) {
	for _, path := range []string{"C/D/y", "C/D/../z", "E", "F/../z"} {
		t.Run(path, func(t *testing.T) {
			t.Chdir(t.TempDir())
			require.NoError(t, os.MkdirAll("A/B", 0o700))
			require.NoError(t, os.Mkdir("C", 0o700))
			require.NoError(t, os.Symlink("../A/B", "C/D"))
			require.NoError(t, os.Symlink("../z", "A/B/y"))
			require.NoError(t, os.Symlink("C/D/../z", "E"))
			require.NoError(t, os.Symlink("C/D", "F"))
			require.NoError(t, os.WriteFile("C/z", []byte("mine"), 0o600))
			require.NoError(t, os.WriteFile("z", []byte("mine"), 0o600))
			for _, text := range []string{"made", "replaced"} {
				write(t, path, text)
				requireText(t, "A/z", text)
				requireText(t, "C/z", "mine")
				requireText(t, "z", "mine")
				require.Equal(t, []string{"B", "z"}, list(t, "A"))
				require.Equal(t, []string{"D", "z"}, list(t, "C"))
			}
		})
	}
}

func TestADeletedFileIsWrittenInPlace(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux names open files so that they can be opened again")
	}
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "y"))
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteString("a longer text")
	require.NoError(t, err)
	require.NoError(t, os.Remove(f.Name()))
	write(t, filepath.Join("/proc/self/fd", descriptor(f)), "new")
	got := make([]byte, 20)
	n, _ := f.ReadAt(got, 0)
	require.Equal(t, "new", string(got[:n]))
	require.Empty(t, list(t, dir))
}

func descriptor(f *os.File) string {
	all, _ := filepath.Glob("/proc/self/fd/*")
	for _, fd := range all {
		at, err := os.Stat(fd)
		if err != nil {
			continue
		}
		if st, err := f.Stat(); err == nil && os.SameFile(st, at) {
			return filepath.Base(fd)
		}
	}
	return ""
}

func TestInsideLeavesTheParentOfALinkToTheSystem(t *testing.T) {
	require.Equal(t, "C/D/.."+string(filepath.Separator)+"y", Inside("C/D/..", "y"))
	require.Equal(t, "C/y", Inside("C/", "y"))
	require.Equal(t, "y", Inside("", "y"))
}

// modes runs check with files that have no name until they are complete, if the system
// supports these, and with files that have a temporary name.
func modes(t *testing.T, check func(t *testing.T, create func(dir string, perm fs.FileMode) (*temporary, error))) {
	t.Run("as the system can", func(t *testing.T) { check(t, createIn) })
	t.Run("named", func(t *testing.T) { check(t, createNamed) })
}

func TestAFileThatIsReplacedKeepsItsModeFromTheStart(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	for _, perm := range []fs.FileMode{0o600, 0o640, 0o666, 0o444, 0o400} {
		path := filepath.Join(t.TempDir(), "y")
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
		require.NoError(t, os.Chmod(path, perm))
		out, err := Create(path)
		require.NoError(t, err)
		st, err := out.tmp.Stat()
		require.NoError(t, err)
		require.Equal(t, perm, st.Mode().Perm())
		_, err = out.Write([]byte("new"))
		require.NoError(t, err)
		require.NoError(t, out.Commit())
		st, err = os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, perm, st.Mode().Perm())
	}
	modes(t, func(t *testing.T, create func(string, fs.FileMode) (*temporary, error)) {
		tmp, err := create(t.TempDir()+"/", 0o600) // before anything changes the mode
		require.NoError(t, err)
		st, err := tmp.Stat()
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), st.Mode().Perm())
		require.NoError(t, tmp.drop())
	})
}

func TestATemporaryFileGetsAnyName(t *testing.T) {
	modes(t, func(t *testing.T, create func(string, fs.FileMode) (*temporary, error)) {
		dir := t.TempDir() + "/"
		for _, text := range []string{"made", "replaced"} {
			tmp, err := create(dir, 0o600)
			require.NoError(t, err)
			_, err = tmp.WriteString(text)
			require.NoError(t, err)
			require.NoError(t, tmp.rename(dir+"y"))
			require.NoError(t, tmp.drop(), "removes nothing")
			requireText(t, dir+"y", text)
			require.Equal(t, []string{"y"}, list(t, dir))
		}
		tmp, err := create(dir, 0o600)
		require.NoError(t, err)
		require.Error(t, tmp.rename(dir+"none/y"))
		require.NoError(t, tmp.drop())
		require.Equal(t, []string{"y"}, list(t, dir))
	})
}

func TestWithoutProcAnUnnamedFileIsCopied(t *testing.T) {
	dir := t.TempDir() + "/"
	tmp, err := createIn(dir, 0o640)
	require.NoError(t, err)
	_, err = tmp.WriteString("text")
	require.NoError(t, err)
	require.NoError(t, tmp.copyToNamed(dir))
	require.NoError(t, tmp.rename(dir+"y"))
	requireText(t, dir+"y", "text")
	require.Equal(t, []string{"y"}, list(t, dir))
	require.Empty(t, openIn(dir))
}

func TestFilesOfKilledProgramsAreRemovedByTheNextRun(t *testing.T) {
	switch runtime.GOOS {
	case "linux", "darwin", "windows", "freebsd":
	default:
		t.Skip("nothing tells here which files are in use")
	}
	dir := t.TempDir()
	inUse, err := createNamed(dir+"/", 0o600)
	require.NoError(t, err)
	defer inUse.drop()
	left := filepath.Join(dir, ".msrep-0123abcd.tmp")
	for _, perm := range []fs.FileMode{0o600, 0o400, 0o200} {
		require.NoError(t, os.WriteFile(left, nil, perm))
		searchedFolders = sync.Map{}
		out, err := Create(filepath.Join(dir, "y"))
		require.NoError(t, err)
		require.NoFileExists(t, left)
		require.NoError(t, out.Close())
	}
	others := []string{".msrep-0123abcd.part", ".msrep-0123abc.tmp", ".msrep-0123abcg.tmp", "x.msrep-0123abcd.tmp"}
	for _, name := range others {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	require.NoError(t, os.Mkdir(left, 0o700))
	searchedFolders = sync.Map{}
	write(t, filepath.Join(dir, "y"), "text")
	for _, name := range others {
		require.FileExists(t, filepath.Join(dir, name), "another program's")
	}
	require.DirExists(t, left)
	require.FileExists(t, inUse.name)
}

const writesUntilKilled = "MSREP_WRITES_UNTIL_KILLED"

func TestAKilledProgramLeavesNothing(t *testing.T) {
	if path := os.Getenv(writesUntilKilled); path != "" {
		out, err := Create(path)
		require.NoError(t, err)
		_, err = out.Write(make([]byte, 8<<20))
		require.NoError(t, err)
		os.Stdout.WriteString("written\n")
		time.Sleep(time.Minute)
		t.Fatal("was not killed")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "y")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	cmd := exec.Command(os.Args[0], "-test.run=^TestAKilledProgramLeavesNothing$")
	cmd.Env = append(os.Environ(), writesUntilKilled+"="+path)
	said, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = said.Read(make([]byte, 1))
	require.NoError(t, err)
	if runtime.GOOS == "linux" && len(list(t, dir)) > 1 {
		t.Log("this file system has no files without a name")
	}
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	requireText(t, path, "old")
	searchedFolders = sync.Map{}
	write(t, path, "new")
	require.Equal(t, []string{"y"}, list(t, dir))
}
