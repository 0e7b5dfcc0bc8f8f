// The messages are those that the adapters' tests have in common.

package testpb

import "github.com/harena-project/harena/go/pb/echotest"

type (
	Note              = echotest.Note
	Author            = echotest.Author
	Note_ChoiceText   = echotest.Note_ChoiceText
	Note_ChoiceAuthor = echotest.Note_ChoiceAuthor
)
