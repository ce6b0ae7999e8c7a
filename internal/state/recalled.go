package state

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
)

// answers is the directory with what programs answered to questions that hold everything which
// the answer depends on, a file each. It lies beside the repositories, where no worker reads
// or writes.
const answers = ".answers"

const (
	mostAnswers = 500 // then all of them are forgotten
	longest     = 1 << 20
)

// Recalled is what a program answers to a question, from a file where it was asked before. What
// others could have written is not believed, and where nothing can be kept the program is
// asked each time.
func Recalled(program, question string, ask func() (string, error)) (string, error) {
	root, err := RealRoot()
	file := identity(program)
	if err != nil || file == "" {
		return ask()
	}
	question = file + "\x00" + question
	sum := sha256.Sum256([]byte("name\x00" + question))
	at := filepath.Join(root, answers, hex.EncodeToString(sum[:]))
	if sealed, err := readOwn(at); err == nil {
		if text, ok := unseal(question, sealed); ok {
			return text, nil
		}
	}
	text, err := ask()
	if err == nil && len(text) <= longest && identity(program) == file {
		keepAnswer(root, at, seal(question, text))
	}
	return text, err
}

// locked encrypts for those who know a question: a file of the operator's that has a password
// does not leave it in a second place. An answer that was cut short does not open.
func locked(question string) cipher.AEAD {
	key := sha256.Sum256([]byte("key\x00" + question))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // the key has the right length
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // it is AES
	}
	return aead
}

func seal(question, text string) []byte { return locked(question).Seal(nil, nil, []byte(text), nil) }

func unseal(question string, sealed []byte) (string, bool) {
	text, err := locked(question).Open(nil, nil, sealed, nil)
	return string(text), err == nil
}

// keepAnswer writes a file that is complete or not there. Where it fails, the program is asked
// again.
func keepAnswer(root, at string, sealed []byte) {
	if _, err := os.Lstat(root); err != nil {
		return // cordon keeps nothing yet
	}
	dir := filepath.Dir(at)
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return
	}
	if kept, err := os.ReadDir(dir); err == nil && len(kept) >= mostAnswers {
		for _, e := range kept {
			_ = os.Remove(filepath.Join(dir, e.Name())) // an answer that another one asks for is asked again
		}
	}
	f, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return
	}
	_, err = f.Write(sealed)
	if f.Close() != nil || err != nil || os.Rename(f.Name(), at) != nil {
		_ = os.Remove(f.Name()) // made just now
	}
}
