package present

// answering is how a question is named to cordon answer.
func Answering(worker, question string, only bool) string {
	if only {
		return worker
	}
	return worker + " " + question
}

// wideColumns is what the columns of a decision take where there is room for all.
const wideColumns = 130

// showColumns is what show has for a list beside its first column.
const showColumns = 68
