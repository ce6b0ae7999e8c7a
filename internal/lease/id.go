package lease

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// ID names a worker: two words that a person can say.
type ID string

// Valid reports whether a worker can have this name.
func (id ID) Valid() bool { return id.check() == nil }

func (id ID) check() error {
	a, b, ok := strings.Cut(string(id), "-")
	if !ok || !listed(qualities, a) || !listed(animals, b) {
		return fmt.Errorf("%q is not a worker's name", string(id))
	}
	return nil
}

// listed looks w up in a text of words.
func listed(text, w string) bool {
	for word := range strings.FieldsSeq(text) {
		if word == w {
			return true
		}
	}
	return false
}

// NewID draws a name that taken does not have.
func NewID(taken func(ID) bool) (ID, error) {
	first, second := strings.Fields(qualities), strings.Fields(animals)
	for range 1000 {
		a, err := pick(first)
		if err != nil {
			return "", err
		}
		b, err := pick(second)
		if err != nil {
			return "", err
		}
		if id := ID(a + "-" + b); !taken(id) {
			return id, nil
		}
	}
	return "", errors.New("no free worker name found: names are never given twice")
}

func pick(words []string) (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(len(words))))
	if err != nil {
		return "", err
	}
	return words[n.Int64()], nil
}

// Both lists are sorted, and no word is a prefix of another of its list. They stay
// texts, because a program that only reads a lease draws no name.
const qualities = `
able agile airy alert amber ample azure balmy bold brave breezy brief bright
brisk bronze calm candid chief civil clear clever cobalt coral cosmic crisp
curious dapper daring deft dense eager early earnest easy elder epic even exact
fair famed fancy fine firm fleet fluent fond frank fresh gentle giant glad
golden grand happy hardy hasty honest humble ideal indigo ivory jaunty jolly
keen kind lively loyal lucid lucky lunar mellow merry mighty mild misty modest
neat nimble noble novel opal patient placid plain plucky polite proud quick
quiet rapid ready regal robust rosy royal ruby sage scarlet serene sharp silent
silver simple sincere smart snug sober solar solid sonic sparse stable steady
stern stoic sturdy subtle sunny swift teal tender tidy timely topaz tranquil
trusty upbeat valiant velvet vivid warm wary watchful witty worthy young zesty
`

const animals = `
adder albatross alpaca antelope badger barbet bear beaver beetle bison bobcat
buffalo camel caribou cheetah cicada cobra condor cougar coyote crane cricket
crow curlew deer dingo dolphin donkey dove eagle egret eland falcon ferret finch
firefly fox gannet gazelle gecko gibbon giraffe goose gopher grebe grouse gull
hare harrier hawk hedgehog heron hornet horse hyena ibex ibis iguana impala
jackal jaguar jay kestrel kingfisher kite kiwi koala lark lemur leopard limpet
lion lizard llama lobster lynx magpie mallard marmot marten merlin mink mole
moose moth mule narwhal newt ocelot octopus oriole osprey otter owl oyster panda
panther parrot pelican penguin pheasant pika plover pony puffin puma quail
rabbit raccoon raven robin salmon seal shark shrew skylark sloth snipe sparrow
squid starling stoat stork swallow swan tapir tern tiger toad toucan trout
turtle viper vole walrus weasel whale wolf wombat wren yak zebra
`
