// Package sarif has the SARIF 2.1.0 objects that Precedent writes for reviews and
// reads from linters
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html).
//
// Input is untrusted: lists are limited while they are read, because three bytes of
// JSON can become a structure of hundreds.
package sarif

// Version is the version of the standard. Schema is the address of its JSON Schema.
const (
	Version = "2.1.0"
	Schema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

// Log is a SARIF document.
type Log struct {
	Schema  string   `json:"$schema"`
	Version string   `json:"version"`
	Runs    Few[Run] `json:"runs"`
}

// Run is one run of a tool.
type Run struct {
	Tool               Tool                `json:"tool"`
	AutomationDetails  Automation          `json:"automationDetails,omitzero"`
	Invocations        Few[Invocation]     `json:"invocations"`
	OriginalURIBaseIDs map[string]Artifact `json:"originalUriBaseIds"`
	VersionControl     Few[Provenance]     `json:"versionControlProvenance,omitempty"`
	Artifacts          Many[File]          `json:"artifacts,omitempty"`
	Results            Many[Result]        `json:"results"`
	ColumnKind         string              `json:"columnKind"`
	Properties         Properties          `json:"properties"`
}

// Tool is a program and its plug-ins.
type Tool struct {
	Driver     Driver      `json:"driver"`
	Extensions Few[Driver] `json:"extensions,omitempty"`
}

// Driver is a program or a plug-in, with its rules.
type Driver struct {
	Name           string     `json:"name"`
	InformationURI string     `json:"informationUri"`
	Version        string     `json:"version,omitempty"`
	Rules          Many[Rule] `json:"rules,omitempty"`
	Notifications  Few[Rule]  `json:"notifications"`
}

// Rule describes a kind of result or notification.
type Rule struct {
	ID            string             `json:"id"`
	Name          string             `json:"name,omitempty"`
	Short         Message            `json:"shortDescription,omitzero"`
	Full          Message            `json:"fullDescription,omitzero"`
	Help          Message            `json:"help,omitzero"`
	HelpURI       string             `json:"helpUri,omitempty"`
	Configuration Configuration      `json:"defaultConfiguration,omitzero"`
	Messages      map[string]Message `json:"messageStrings,omitempty"`
	Properties    Tags               `json:"properties,omitzero"`
}

// Configuration is a rule's default configuration.
type Configuration struct {
	Level string `json:"level"`
}

// Tags are the known properties of a rule.
type Tags struct {
	Tags Few[string] `json:"tags"`
}

// Message is a text, or the id of one of its rule's texts. It is used for everything
// that has a text.
type Message struct {
	Text      string      `json:"text"`
	ID        string      `json:"id,omitempty"`
	Arguments Few[string] `json:"arguments,omitempty"`
}

// Automation identifies a kind of run.
type Automation struct {
	ID string `json:"id"`
}

// Invocation describes how a run went. Times are RFC 3339, in UTC.
type Invocation struct {
	ExecutionSuccessful bool              `json:"executionSuccessful"`
	Start               string            `json:"startTimeUtc,omitempty"`
	End                 string            `json:"endTimeUtc,omitempty"`
	Notifications       Few[Notification] `json:"toolExecutionNotifications"`
}

// Notification is a message of a tool about its run.
type Notification struct {
	Descriptor Descriptor    `json:"descriptor"`
	Level      string        `json:"level"`
	Message    Message       `json:"message"`
	Locations  Few[Location] `json:"locations,omitempty"`
}

// Descriptor names one of the driver's notifications.
type Descriptor struct {
	ID    string `json:"id"`
	Index int    `json:"index"`
}

// Provenance is the commit that a tool checked.
type Provenance struct {
	RepositoryURI string   `json:"repositoryUri"`
	RevisionID    string   `json:"revisionId,omitempty"`
	MappedTo      Artifact `json:"mappedTo"`
}

// Result is one result. RuleIndex is an index into the driver's rules; Rank is in
// percent.
type Result struct {
	RuleID              string            `json:"ruleId"`
	RuleIndex           *int              `json:"ruleIndex"`
	Rule                Descriptor        `json:"rule,omitzero"`
	Kind                string            `json:"kind,omitempty"`
	Level               string            `json:"level"`
	Rank                float64           `json:"rank"`
	Message             Message           `json:"message"`
	Locations           Few[Location]     `json:"locations,omitempty"`
	PartialFingerprints map[string]string `json:"partialFingerprints,omitempty"`
	Suppressions        Few[Suppression]  `json:"suppressions,omitempty"`
	Fixes               Few[Fix]          `json:"fixes,omitempty"`
	Properties          Properties        `json:"properties"`
}

// Suppression means that a result does not count.
type Suppression struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification"`
}

// Location is a position in a file.
type Location struct {
	Physical   Physical   `json:"physicalLocation"`
	Message    Message    `json:"message,omitzero"`
	Properties Properties `json:"properties,omitempty"`
}

// Physical is a file, or a part of one.
type Physical struct {
	Artifact Artifact `json:"artifactLocation"`
	Region   Region   `json:"region,omitzero"`
}

// File is an entry of a run's list of files.
type File struct {
	Location Artifact `json:"location"`
}

// Artifact is a file: a URI that may be relative to a base of the run, or an index
// into the run's list of files.
type Artifact struct {
	URI         string  `json:"uri,omitempty"`
	URIBaseID   string  `json:"uriBaseId,omitempty"`
	Index       *int    `json:"index,omitempty"`
	Description Message `json:"description,omitzero"`
}

// Region is a part of a file. Lines and columns start at 1; 0 means not given.
type Region struct {
	StartLine   int `json:"startLine"`
	EndLine     int `json:"endLine"`
	StartColumn int `json:"startColumn,omitempty"`
	EndColumn   int `json:"endColumn,omitempty"`
}

// Fix is a proposed change of files.
type Fix struct {
	Description Message     `json:"description"`
	Changes     Few[Change] `json:"artifactChanges"`
}

// Change is a change of one file.
type Change struct {
	Artifact     Artifact         `json:"artifactLocation"`
	Replacements Few[Replacement] `json:"replacements"`
}

// Replacement replaces a region with a text.
type Replacement struct {
	Deleted  Region  `json:"deletedRegion"`
	Inserted Message `json:"insertedContent"`
}
