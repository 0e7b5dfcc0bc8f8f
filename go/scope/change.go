package scope

import "slices"

// MethodChange is what one method of a group is to get, as for [Group.Change].
type MethodChange struct {
	Group *Group
	Name  string
	Edit  func(*Options)
}

// ChangeAll makes changes of any groups, for requests from now on: all of them, or none. The error is
// that of the change with the index that is returned.
//
// Thread rule: any goroutine. Where somebody else changes a method meanwhile so that one does not fit
// any more, what was made is taken back.
func ChangeAll(changes []MethodChange) (refused int, err error) {
	for i, c := range changes {
		if err := c.Group.CheckChange(c.Name, c.Edit); err != nil {
			return i, err
		}
	}
	var takeBack []func()
	for i, c := range changes {
		before := c.Group.Pool(c.Name).Options()
		if err := c.Group.Change(c.Name, c.Edit); err != nil {
			for _, back := range slices.Backward(takeBack) {
				back()
			}
			return i, err
		}
		takeBack = append(takeBack, func() {
			// What held a moment ago holds again.
			_ = c.Group.Change(c.Name, func(o *Options) { *o = before })
		})
	}
	return 0, nil
}
