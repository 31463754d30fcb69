package report

import (
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// sarifSchema is where the OASIS standard keeps its JSON Schema.
const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// The objects of SARIF 2.1.0, as far as a review has something to say in them.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool               sarifTool                `json:"tool"`
		AutomationDetails  sarifAutomation          `json:"automationDetails"`
		Invocations        []sarifInvocation        `json:"invocations"`
		OriginalURIBaseIDs map[string]sarifArtifact `json:"originalUriBaseIds"`
		VersionControl     []sarifProvenance        `json:"versionControlProvenance,omitempty"`
		Results            []sarifResult            `json:"results"`
		ColumnKind         string                   `json:"columnKind"`
		Properties         map[string]any           `json:"properties"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string            `json:"name"`
		InformationURI string            `json:"informationUri"`
		Version        string            `json:"version,omitempty"`
		Rules          []sarifDescriptor `json:"rules,omitempty"`
		Notifications  []sarifDescriptor `json:"notifications"`
	}
	sarifDescriptor struct {
		ID         string         `json:"id"`
		Name       string         `json:"name,omitempty"`
		Short      *sarifMessage  `json:"shortDescription,omitempty"`
		Full       *sarifMessage  `json:"fullDescription,omitempty"`
		Help       *sarifMessage  `json:"help,omitempty"`
		HelpURI    string         `json:"helpUri,omitempty"`
		Properties map[string]any `json:"properties,omitempty"`
	}
	// sarifMessage serves for what holds a text alone.
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifAutomation struct {
		ID string `json:"id"`
	}
	sarifInvocation struct {
		ExecutionSuccessful bool                `json:"executionSuccessful"`
		Start               string              `json:"startTimeUtc,omitempty"`
		End                 string              `json:"endTimeUtc,omitempty"`
		Notifications       []sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		Descriptor struct {
			ID    string `json:"id"`
			Index int    `json:"index"`
		} `json:"descriptor"`
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifProvenance struct {
		RepositoryURI string        `json:"repositoryUri"`
		RevisionID    string        `json:"revisionId,omitempty"`
		MappedTo      sarifArtifact `json:"mappedTo"`
	}
	sarifResult struct {
		RuleID              string             `json:"ruleId"`
		RuleIndex           int                `json:"ruleIndex"`
		Level               string             `json:"level"`
		Rank                int                `json:"rank"` // percent
		Message             sarifMessage       `json:"message"`
		Locations           []sarifLocation    `json:"locations,omitempty"`
		PartialFingerprints map[string]string  `json:"partialFingerprints,omitempty"`
		Suppressions        []sarifSuppression `json:"suppressions,omitempty"`
		Fixes               []sarifFix         `json:"fixes,omitempty"`
		Properties          map[string]any     `json:"properties"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Status        string `json:"status"`
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPhysical  `json:"physicalLocation"`
		Message          *sarifMessage  `json:"message,omitempty"`
		Properties       map[string]any `json:"properties,omitempty"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI         string        `json:"uri,omitempty"`
		URIBaseID   string        `json:"uriBaseId,omitempty"`
		Description *sarifMessage `json:"description,omitempty"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
		EndLine   int `json:"endLine"`
	}
	sarifFix struct {
		Description     sarifMessage  `json:"description"`
		ArtifactChanges []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		ArtifactLocation sarifArtifact      `json:"artifactLocation"`
		Replacements     []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		DeletedRegion   sarifRegion  `json:"deletedRegion"`
		InsertedContent sarifMessage `json:"insertedContent"`
	}
)

// sarifRuleOf describes what a finding is an instance of.
func sarifRuleOf(id string, f precedent.Finding) sarifDescriptor {
	finder, category := visible(f.Finder), visible(string(f.Category))
	said := fmt.Sprintf("Remarks of the finder %s about %s.", finder, category)
	if f.Rule != "" {
		said = fmt.Sprintf("The rule %s of the finder %s, about %s.", visible(text.Head(f.Rule, maxTitle)), finder, category)
	}
	help := said + " The confidence of a result is the chance in percent that the team accepts it. " +
		"To see why a result is shown: precedent explain ID. To dismiss it: precedent dismiss ID. The ID is among its properties."
	short, long, more := sarifSays(said), sarifSays(said), sarifSays(help)
	d := sarifDescriptor{ID: id, Short: &short, Full: &long, Help: &more, HelpURI: homepage}
	if category != "" {
		d.Properties = map[string]any{"tags": []string{category}}
	}
	return d
}
