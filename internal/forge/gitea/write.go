package gitea

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// anchor matches the fragment in the URL of a comment.
var anchor = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`#issuecomment-(\d{1,18})$`) })

// Comment comments on the pull request as a whole.
func (c *Client) Comment(ctx context.Context, repo precedent.Repo, number int, body string) (forge.Comment, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("comment on %s#%d", repo, number))
	if err != nil {
		return forge.Comment{}, err
	}
	if tooLong(body) {
		return forge.Comment{}, tooLongError(do.doing)
	}
	m, _, err := do.CreateIssueComment(repo.Owner, repo.Name, int64(number), sdk.CreateIssueCommentOption{Body: body})
	if err != nil {
		return forge.Comment{}, do.fail(err)
	}
	if m.ID <= 0 || m.Created.IsZero() {
		return forge.Comment{}, do.unexpected("a comment has no id or no time")
	}
	return c.onThread(m), nil
}

// Edit replaces the text of a comment. The text of a review cannot be edited: Gitea
// would change it only on the page, and its API would keep returning the old text.
func (c *Client) Edit(ctx context.Context, repo precedent.Repo, number int, m forge.CommentRef, body string) error {
	do, err := c.begin(ctx, repo, fmt.Sprintf("edit comment %s on %s#%d", m.ID, repo, number), m.ID)
	if err != nil {
		return err
	}
	if m.Kind == forge.OnReview {
		return &forge.Error{Kind: forge.KindInvalid, Msg: do.doing + ": Gitea cannot edit the text of a review"}
	}
	if tooLong(body) {
		return tooLongError(do.doing)
	}
	there, err := c.checkAuthor(ctx, do, repo, number, m)
	switch {
	case err != nil:
		return err
	case !there:
		return &forge.Error{Kind: forge.KindNotFound, Msg: do.doing + ": the comment was deleted"}
	}
	now := new(sdk.Comment)
	if err := c.send(ctx, do, http.MethodPatch, fmt.Sprintf("repos/%s/%s/issues/comments/%d", repo.Owner, repo.Name, m.ID.Number()), sdk.EditIssueCommentOption{Body: body}, now); err != nil {
		return err
	}
	if now.ID == 0 { // Gitea returns 204 for comments that it does not edit
		return &forge.Error{Kind: forge.KindInvalid, Msg: do.doing + ": this server cannot edit comments of that kind"}
	}
	return nil
}

// Delete deletes a comment, and looks whether it is gone: Gitea before August 2025
// returns success for single comments on lines and deletes none. Deleting a review
// deletes all its comments on lines, so only a review without any is deleted.
func (c *Client) Delete(ctx context.Context, repo precedent.Repo, number int, m forge.CommentRef) (forge.Unsupported, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("delete comment %s on %s#%d", m.ID, repo, number), m.ID)
	if err != nil {
		return "", err
	}
	if there, err := c.checkAuthor(ctx, do, repo, number, m); err != nil || !there {
		return "", err
	}
	switch m.Kind {
	case forge.OnLine:
		return c.deleteLine(ctx, do, repo, number, m.ID)
	case forge.OnReview:
		r, _, err := do.GetPullReview(repo.Owner, repo.Name, int64(number), m.ID.Number())
		switch {
		case err != nil:
			return "", do.fail(err)
		case r.CodeCommentsCount > 0:
			return "Gitea cannot delete a review without its comments on lines", nil
		}
		return "", c.deleteReview(do, repo, number, m.ID.Number())
	}
	if _, err := do.DeleteIssueComment(repo.Owner, repo.Name, m.ID.Number()); err != nil && statusOf(err) != http.StatusNotFound {
		return "", do.fail(err)
	}
	if there, err := c.checkAuthor(ctx, do, repo, number, m); err != nil || !there {
		return "", err
	}
	return "the server returned success, and did not delete the comment", nil
}

// checkAuthor reports whether a comment exists, and refuses one that is not by Me:
// Gitea lets everyone with write access edit all comments.
func (c *Client) checkAuthor(ctx context.Context, do call, repo precedent.Repo, number int, m forge.CommentRef) (there bool, err error) {
	me, err := c.Me(ctx)
	if err != nil {
		return false, err
	}
	var by forge.Person
	switch m.Kind {
	case forge.OnLine:
		found, err := c.find(do, repo, number, m.ID)
		if err != nil || found == nil {
			return false, err
		}
		by = found.Author
	case forge.OnReview:
		r, _, err := do.GetPullReview(repo.Owner, repo.Name, int64(number), m.ID.Number())
		switch {
		case statusOf(err) == http.StatusNotFound:
			return false, nil
		case err != nil:
			return false, do.fail(err)
		}
		by = person(r.Reviewer)
	case forge.OnThread:
		found := new(sdk.Comment)
		err := c.send(ctx, do, http.MethodGet, fmt.Sprintf("repos/%s/%s/issues/comments/%d", repo.Owner, repo.Name, m.ID.Number()), nil, found)
		if statusOf(err) == http.StatusNotFound || err == nil && found.ID == 0 { // 204: a comment of another kind
			return false, nil
		}
		if err != nil {
			return false, err
		}
		by = person(found.Poster)
	}
	if by.ID != me.ID {
		return false, &forge.Error{Kind: forge.KindRefused, Msg: fmt.Sprintf("%s: the comment belongs to another account", do.doing)}
	}
	return true, nil
}

func (c *Client) deleteReview(do call, repo precedent.Repo, number int, id int64) error {
	_, err := do.DeletePullReview(repo.Owner, repo.Name, int64(number), id)
	if statusOf(err) == http.StatusNotFound {
		return nil
	}
	return do.fail(err)
}

// deleteLine deletes a comment on a line by the route of Forgejo or that of Gitea, or
// with its review if that contains nothing else.
func (c *Client) deleteLine(ctx context.Context, do call, repo precedent.Repo, number int, id precedent.ForgeID) (forge.Unsupported, error) {
	there, err := c.find(do, repo, number, id)
	if err != nil || there == nil {
		return "", err
	}
	err = c.send(ctx, do, http.MethodDelete, fmt.Sprintf("repos/%s/%s/pulls/%d/reviews/%d/comments/%d", repo.Owner, repo.Name, number, there.Review.Number(), id.Number()), nil, nil)
	if isUnknownRoute(err) {
		_, err = do.DeleteIssueComment(repo.Owner, repo.Name, id.Number())
	}
	if err != nil && statusOf(err) != http.StatusNotFound {
		return "", do.fail(err)
	}
	r, _, err := do.GetPullReview(repo.Owner, repo.Name, int64(number), there.Review.Number())
	if statusOf(err) == http.StatusNotFound {
		return "", nil // it went with its last comment
	}
	if err != nil {
		return "", do.fail(err)
	}
	left, err := c.remarks(do, repo, number, r)
	if err != nil || !slices.ContainsFunc(left, func(m inline) bool { return m.ID == id }) {
		return "", err
	}
	if r.Body == "" && r.CodeCommentsCount == 1 && r.State == sdk.ReviewStateComment {
		return "", c.deleteReview(do, repo, number, r.ID)
	}
	return "this server cannot delete single comments on lines (Gitea can since 1.25)", nil
}

// send makes a request that the SDK lacks or gets wrong. in and out may be nil. out
// is unchanged if the response is empty.
func (c *Client) send(ctx context.Context, do call, method, path string, in, out any) error {
	ctx, attempt := c.wire.Watch(ctx)
	do.attempt = attempt
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return fmt.Errorf("%s: write JSON: %w", do.doing, err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.wire.Home()+path, bytes.NewReader(body.Bytes()))
	if err != nil {
		return fmt.Errorf("%s: make request: %w", do.doing, err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("User-Agent", c.agent)
	resp, err := c.wire.Client().Do(req)
	if err != nil {
		return do.fail(err)
	}
	defer resp.Body.Close()
	if out == nil || resp.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return do.fail(err)
	}
	return nil
}
