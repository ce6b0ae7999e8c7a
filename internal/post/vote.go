package post

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Vote is the request that a command of a verifier or a reviewer makes: truth NUMBER yes|no WHY, or review VERDICT WHY.
func Vote(words []string) (Request, error) {
	switch {
	case len(words) > 2 && words[0] == Review:
		return Request{Verb: Review, Verdict: words[1], Text: strings.Join(words[2:], " ")}, nil
	case len(words) > 3 && words[0] == Truth:
		number, yes, err := ReadAnswer(words[1], words[2])
		return Request{Verb: Truth, Number: number, Yes: yes, Text: strings.Join(words[3:], " ")}, err
	}
	return Request{}, errors.New("that is no answer of a verifier or a reviewer")
}

// ReadAnswer reads the number of a claim, and yes or no.
func ReadAnswer(number, word string) (n int, yes bool, err error) {
	n, err = strconv.Atoi(number)
	if err != nil || n < 1 {
		return 0, false, fmt.Errorf("%q is not the number of a claim", number)
	}
	switch word {
	case "yes":
		return n, true, nil
	case "no":
		return n, false, nil
	}
	return 0, false, fmt.Errorf("answer yes or no, not %q", word)
}
