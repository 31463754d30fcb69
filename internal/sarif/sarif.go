// Package sarif has the objects of SARIF 2.1.0 that Precedent writes about a
// review and reads from linters
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html).
//
// What is read may be hostile: lists are bounded while they are read, because
// three bytes of JSON can make a structure of hundreds.
package sarif

// Version is of the standard, Schema is where OASIS keeps its JSON Schema.
const (
	Version = "2.1.0"
	Schema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

// Log is a document.
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

// Driver is a program or a plug-in, with what it looks for.
type Driver struct {
	Name           string     `json:"name"`
	InformationURI string     `json:"informationUri"`
	Version        string     `json:"version,omitempty"`
	Rules          Many[Rule] `json:"rules,omitempty"`
	Notifications  Few[Rule]  `json:"notifications"`
}

// Rule describes what a result or a notification is an instance of.
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

// Configuration is what holds for a rule unless a result says otherwise.
type Configuration struct {
	Level string `json:"level"`
}

// Tags are the properties of a rule that are known.
type Tags struct {
	Tags Few[string] `json:"tags"`
}

// Message is a text, or names one of its rule's texts. It serves for whatever
// has a text.
type Message struct {
	Text      string      `json:"text"`
	ID        string      `json:"id,omitempty"`
	Arguments Few[string] `json:"arguments,omitempty"`
}

// Automation tells runs apart.
type Automation struct {
	ID string `json:"id"`
}

// Invocation says how a run went. Times are in RFC 3339, in UTC.
type Invocation struct {
	ExecutionSuccessful bool              `json:"executionSuccessful"`
	Start               string            `json:"startTimeUtc,omitempty"`
	End                 string            `json:"endTimeUtc,omitempty"`
	Notifications       Few[Notification] `json:"toolExecutionNotifications"`
}

// Notification is what a tool says about itself.
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

// Provenance is the commit that a tool looked at.
type Provenance struct {
	RepositoryURI string   `json:"repositoryUri"`
	RevisionID    string   `json:"revisionId,omitempty"`
	MappedTo      Artifact `json:"mappedTo"`
}

// Result is one remark. RuleIndex is among the driver's rules, Rank in percent.
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

// Suppression says that a result does not count.
type Suppression struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification"`
}

// Location is a place in a file.
type Location struct {
	Physical   Physical   `json:"physicalLocation"`
	Message    Message    `json:"message,omitzero"`
	Properties Properties `json:"properties,omitempty"`
}

// Physical is a file and a part of it, if one is meant.
type Physical struct {
	Artifact Artifact `json:"artifactLocation"`
	Region   Region   `json:"region,omitzero"`
}

// File is an entry of a run's list of files.
type File struct {
	Location Artifact `json:"location"`
}

// Artifact is a file by its address: one that is relative to a base of the run,
// or the index of an entry of the run's list of files.
type Artifact struct {
	URI         string  `json:"uri,omitempty"`
	URIBaseID   string  `json:"uriBaseId,omitempty"`
	Index       *int    `json:"index,omitempty"`
	Description Message `json:"description,omitzero"`
}

// Region is a part of a file. Lines and columns begin with 1; 0 is not given.
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

// Replacement puts a text in the place of a region.
type Replacement struct {
	Deleted  Region  `json:"deletedRegion"`
	Inserted Message `json:"insertedContent"`
}
