package inline

// awkRows are the functions of awk, by name.
var awkRows = [...]row{
	{"=sprintf", actFormat, 0, 0},
	{"close", actText, 0, 0},
	{"gsub", actText, 0, 0},
	{"split", actText, 0, 0},
	{"sub", actText, 0, 0},
	{"system", actShell, 0, 0},
}
